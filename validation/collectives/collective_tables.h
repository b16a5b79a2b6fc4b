// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "validation/harness/suite.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// One measured collective, in the words of a table's columns. Empty columns give empty or no
/// values.
struct MeasuredRow {
    std::size_t line = 0;
    std::string table;  ///< column id: rows with equal id were measured together
    /// None: a collective that is not simulated.
    std::optional<CollectiveKind> collective = CollectiveKind::kAllReduce;
    std::string collective_name;  ///< as in the column
    std::string gpu;
    std::uint32_t gpus = 0;
    std::optional<std::uint32_t> nodes;
    std::string interconnect;
    std::string algorithm;
    std::optional<std::uint32_t> channels;  ///< that the library was limited to
    std::string library_version;
    std::string datatype;
    std::string placement;
    /// As counted by nccl-tests: the larger side for all-gather, reduce-scatter and all-to-all.
    /// None: a peak without its size.
    std::optional<std::uint64_t> bytes;
    std::optional<double> time_us;
    std::optional<double> algorithm_bandwidth;  ///< GB/s
    std::optional<double> bus_bandwidth;
    double algorithm_bandwidth_step = 0;  ///< unit of its last digit
    double bus_bandwidth_step = 0;
    /// Number of GPUs driven by the host thread that launches the loop, if known; 0: no launches,
    /// as in a CUDA graph.
    std::optional<std::uint32_t> driven;
    std::string unusable;  ///< reason why the row does not state a time; empty if it does
};

/// Reads a CSV file with the columns id, n_gpus, size_bytes and at least one of time_us,
/// algbw_GBps, busbw_GBps; optionally collective (default all_reduce), gpu, n_nodes, interconnect,
/// algo, channels, nccl_version, dtype, placement. Throws ConfigError "file: line N: ..." with all
/// problems.
[[nodiscard]] std::vector<MeasuredRow>
read_collective_tables(const std::filesystem::path& path, std::vector<Unmatched>* unread = nullptr);
[[nodiscard]] std::vector<MeasuredRow>
parse_collective_tables(std::string_view text, const std::string& label);

/// A time with the uncertainty due to the source's number of digits.
struct MeasuredTime {
    double us = 0;
    std::optional<double> low;
    std::optional<double> high;
};
/// The row's time in us; if only bandwidths are given, computed from the one with the most digits.
/// Nothing if the row has neither or a bandwidth rounded to zero.
[[nodiscard]] std::optional<MeasuredTime> measured_time(const MeasuredRow& row);
/// Bus bandwidth of a collective in GB/s, as nccl-tests defines it.
[[nodiscard]] double
bus_bandwidth_GBps(CollectiveKind kind, std::uint64_t bytes, std::uint32_t gpus, double us);

/// What ran, according to the columns algo and nccl_version.
struct AlgorithmWords {
    Algorithm algorithm = Algorithm::kAuto;
    bool in_switch_off = false;  ///< NVLS was disabled, or the library does not have it
    std::string doubt;           ///< reason not to trust the label; empty if it is trusted
};
[[nodiscard]] AlgorithmWords algorithm_words(const MeasuredRow& row);
/// Major * 10000 + minor * 100 + patch; none if the text names no version ("2.22.3+cuda12.6",
/// "nccl-library=22902").
[[nodiscard]] std::optional<std::uint32_t> library_version(std::string_view text);

}  // namespace switchfold::validation

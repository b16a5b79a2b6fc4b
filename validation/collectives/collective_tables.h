// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// One measured collective, as the columns of a table say it. What a column leaves empty is empty
/// or none.
struct MeasuredRow {
    std::size_t line = 0;
    std::string table;  ///< column id: rows of one id were measured together
    /// None: the column names one that is not simulated.
    std::optional<CollectiveKind> collective = CollectiveKind::kAllReduce;
    std::string collective_name;  ///< as the column says it
    std::string gpu;
    std::uint32_t gpus = 0;
    std::optional<std::uint32_t> nodes;
    std::string interconnect;
    std::string algorithm;
    std::string library_version;
    std::string datatype;
    std::string placement;
    /// As nccl-tests counts them: all-gather, reduce-scatter and all-to-all by the larger side.
    /// None: a peak without its size.
    std::optional<std::uint64_t> bytes;
    std::optional<double> time_us;
    std::optional<double> algorithm_bandwidth;  ///< GB/s
    std::optional<double> bus_bandwidth;
    double algorithm_bandwidth_step = 0;  ///< of its last digit
    double bus_bandwidth_step = 0;
    /// How many GPUs the host thread drives that launches the loop, where that is known; 0: nobody
    /// launches, as in a CUDA graph.
    std::optional<std::uint32_t> driven;
    std::string unusable;  ///< why the row says nothing of a time; empty if it does
};

/// Reads a CSV file with the columns id, n_gpus, size_bytes and one or more of time_us, algbw_GBps,
/// busbw_GBps; collective (else all_reduce), gpu, n_nodes, interconnect, algo, nccl_version, dtype,
/// placement where they are.
/// Throws ConfigError "file: line N: ..." with everything that is wrong.
[[nodiscard]] std::vector<MeasuredRow> read_collective_tables(const std::filesystem::path& path);
[[nodiscard]] std::vector<MeasuredRow>
parse_collective_tables(std::string_view text, const std::string& label);

/// A time and what the digits of the source leave open.
struct MeasuredTime {
    double us = 0;
    std::optional<double> low;
    std::optional<double> high;
};
/// The row's time in us; from the bandwidth with the most digits if only that is given. None if the
/// row has neither or a bandwidth that was rounded to nothing.
[[nodiscard]] std::optional<MeasuredTime> measured_time(const MeasuredRow& row);
/// Bus bandwidth of a collective in GB/s, as nccl-tests defines it.
[[nodiscard]] double
bus_bandwidth_GBps(CollectiveKind kind, std::uint64_t bytes, std::uint32_t gpus, double us);

/// What ran, as the columns algo and nccl_version say.
struct AlgorithmWords {
    Algorithm algorithm = Algorithm::kAuto;
    bool in_switch_off = false;  ///< NVLS was switched off, or the library knows none
    std::string doubt;           ///< why the label is not taken by its word; empty if it is
};
[[nodiscard]] AlgorithmWords algorithm_words(const MeasuredRow& row);
/// Major * 10000 + minor * 100 + patch; none if the text names no version ("2.22.3+cuda12.6",
/// "nccl-library=22902").
[[nodiscard]] std::optional<std::uint32_t> library_version(std::string_view text);

}  // namespace switchfold::validation

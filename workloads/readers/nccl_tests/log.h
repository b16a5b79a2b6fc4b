// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// What a program of nccl-tests measured of one size, one way.
struct NcclTestsTime {
    double us = 0;
    double algorithm_bandwidth = 0;      ///< GB/s
    double bus_bandwidth = 0;            ///< GB/s
    std::optional<std::uint64_t> wrong;  ///< values of the result; none: not checked
};

struct NcclTestsRow {
    std::uint64_t line = 0;
    std::uint64_t bytes = 0;  ///< column size
    std::string type;         ///< "float"
    std::string reduction;    ///< "sum", "none"
    std::int64_t root = -1;
    NcclTestsTime out_of_place;  ///< us is 0 if the time is that of the host's calls
    std::optional<NcclTestsTime> in_place;
    std::optional<CollectiveKind> kind;  ///< if the row names it; otherwise it is the log's
};

/// A row that says nothing.
struct UnreadRow {
    std::uint64_t line = 0;
    std::string why;
};

/// What a program of nccl-tests printed in one run, or wrote as JSON.
struct NcclTestsLog {
    std::string program = "nccl-tests";  ///< or rccl-tests
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::uint32_t ranks = 0;
    std::uint32_t hosts = 1;           ///< of different names
    std::string gpu;                   ///< of the first rank
    std::string library;               ///< the line that names NCCL's version; may be empty
    std::uint32_t gpus_of_thread = 1;  ///< that one host thread drives
    bool graph = false;                ///< launched as a CUDA graph
    std::vector<NcclTestsRow> rows;    ///< one at least
    std::vector<UnreadRow> unread;     ///< those that are cut or hold no numbers
    std::uint64_t lines = 0;
    std::map<std::string, std::uint64_t> used;  ///< lines, by what they are
    std::map<std::string, std::uint64_t> dropped;
    std::vector<std::string> notes;
};

/// Reads what programs of nccl-tests printed, run after run. Which collective a run is of, newer
/// versions say; for older ones it follows from the reduction, the root and the ratio of bus to
/// algorithm bandwidth. Throws ConfigError (line): a run whose rows are all cut, no row, no rank, a
/// collective that is not known.
[[nodiscard]] std::vector<NcclTestsLog>
read_nccl_logs(const std::filesystem::path& file, std::uint64_t most = kMostInflated);

/// Whether a file that begins so is such a log.
[[nodiscard]] bool is_nccl_tests(std::string_view beginning);

}  // namespace switchfold

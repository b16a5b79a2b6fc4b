// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/execution_graph.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// What was read from one file, what was used, and what was dropped and why.
struct TraceFileReport {
    std::string file;
    std::string gpu_name;
    std::uint64_t memory_bytes = 0;
    std::uint32_t sms = 0;  ///< 0 if the trace does not say
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
    std::uint32_t steps = 0;
    bool synthetic = false;
    std::uint64_t events = 0;
    std::map<std::string, std::uint64_t> used;
    std::map<std::string, std::uint64_t> dropped;  ///< by reason
    std::uint64_t kernels = 0;
    std::uint64_t collectives = 0;
    std::uint64_t copies = 0;
    std::uint32_t streams = 0;
    std::map<std::string, std::uint64_t> durations;  ///< kernels by DurationSource
    std::map<std::string, std::uint64_t> bytes;      ///< kernels by ByteSource
    std::map<std::string, std::uint64_t> sizes;      ///< collectives by SizeSource
    std::vector<std::string> warnings;
};

struct TraceWorkload {
    ExecutionGraph graph;
    std::vector<TraceFileReport> files;
    /// When each operation ran in the trace: [rank graph][operation], ps since the first event of
    /// its file. Host operations have zero times.
    struct Measured {
        Time start;
        Time end;
    };
    std::vector<std::vector<Measured>> measured;
};

struct KinetoOptions {
    std::vector<std::filesystem::path> files;  ///< one a rank
    std::uint64_t max_inflated = 64ULL << 30U;
};

/// Reads PyTorch Kineto traces, one file a rank. Throws ConfigError naming file and byte.
[[nodiscard]] TraceWorkload read_kineto(const KinetoOptions& options);

/// One traced rank stands for `ranks` ranks: they share its operations, and every group of the
/// traced world spans them all.
void spread_over_ranks(TraceWorkload& workload, std::uint32_t ranks);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/csv.h"
#include "validation/harness/suite.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold::validation {

inline constexpr std::string_view kLoopsGroup = "loops";

/// A loop of products beside a loop of collectives, as hopper_contention.csv has it: one launched
/// after the other on a stream of its own, both begun together, all in us.
struct ContentionLoop {
    std::string id;
    std::string gpu;
    std::string interconnect;
    std::uint32_t gpus = 0;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Datatype datatype = Datatype::kFloat32;
    Bytes bytes;
    bool copy_engines = false;  ///< move the data, no kernel
    std::uint32_t blocks = 0;   ///< of the collective's kernel; 0 if not published
    std::uint32_t collectives = 0;
    std::uint32_t products = 0;
    std::uint64_t m = 0;
    std::uint64_t n = 0;
    std::uint64_t k = 0;
    std::optional<double> collective_alone;
    std::optional<double> collective_together;
    std::optional<double> product_alone;
    std::optional<double> product_together;
    std::optional<double> makespan;
    std::optional<double> sequential;
};
/// The row's loop, or why it cannot be simulated in `why`. Throws ConfigError, naming `file` and
/// line, where a number is none.
[[nodiscard]] std::optional<ContentionLoop>
read_loop(const CsvRecord& row, const std::string& file, std::string& why);

enum class LoopParts : std::uint8_t { kCollectives, kProducts, kBoth };
/// One rank's part stands for all; `product` takes its isolated time alone.
[[nodiscard]] ExecutionGraph
loop_graph(const ContentionLoop& loop, const KernelOperation& product, LoopParts parts);

/// A product of matrices with elements of 2 bytes as cuBLAS runs it, one block an SM: tiles of 128
/// by 256, 256 threads, three stages of 64 columns of both factors in shared memory.
[[nodiscard]] KernelOperation product_kernel(const ContentionLoop& loop, double alone_us);

/// Adds a case for each slowdown and each makespan that a row publishes: what the loops take
/// together over what they take alone, and the whole over one after the other. Rows that say too
/// little are unmatched, with why.
void add_loops(const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation

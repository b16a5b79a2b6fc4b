// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "validation/harness/suite.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold::validation {

inline constexpr std::string_view kLoopsGroup = "loops";

/// A loop of products beside a loop of collectives, from hopper_contention.csv: each on its own
/// stream, both started together; times in us.
struct ContentionLoop {
    std::string id;
    std::string gpu;
    std::string interconnect;
    std::uint32_t gpus = 0;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Datatype datatype = Datatype::kFloat32;
    Bytes bytes;
    bool copy_engines = false;  ///< copy engines move the data, without a kernel
    std::uint32_t blocks = 0;   ///< of the collective's kernel; 0: not published
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
/// The row's loop, or nothing with the reason in `why`. Throws ConfigError with `file` and line for
/// an invalid number.
[[nodiscard]] std::optional<ContentionLoop>
read_loop(const CsvRecord& row, const std::string& file, std::string& why);

enum class LoopParts : std::uint8_t { kCollectives, kProducts, kBoth };
/// One rank represents all; `product` takes its isolated time when alone.
[[nodiscard]] ExecutionGraph
loop_graph(const ContentionLoop& loop, const KernelOperation& product, LoopParts parts);

/// A product of matrices with 2-byte elements as run by cuBLAS, one block per SM: tiles of 128 x
/// 256, 256 threads, three stages of 64 columns of both factors in shared memory.
[[nodiscard]] KernelOperation product_kernel(const ContentionLoop& loop, double alone_us);

/// Adds a case for each published slowdown and makespan: the loops' time together over their time
/// alone, and the whole over sequential execution. Rows with insufficient data are unmatched, with
/// the reason.
void add_loops(const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"
#include "validation/harness/suite.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// A measured collective that uses few SMs or none.
struct LowSmRow {
    std::string table;  ///< column id
    std::string gpu;
    std::uint32_t gpus = 0;
    std::uint32_t nodes = 1;
    std::string interconnect;
    std::string kernel;  ///< in the source's words
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Datatype datatype = Datatype::kBfloat16;
    std::uint64_t bytes = 0;
    std::uint32_t blocks = 0;  ///< 0: not stated
    double microseconds = 0;
};
/// Reads rows of the kinds symmetric_memory and copy_engine; `others` receives the number of all
/// other rows. Throws ConfigError "file: line N: ..." with all problems.
[[nodiscard]] std::vector<LowSmRow>
read_low_sm_rows(
    const std::filesystem::path& path,
    std::size_t& others,
    std::vector<Unmatched>* unread = nullptr);
[[nodiscard]] std::vector<LowSmRow>
parse_low_sm_rows(std::string_view text, const std::string& label, std::size_t& others);

/// What to simulate for a kernel, or the reason why nothing.
struct LowSmKernel {
    CollectivePolicy policy;
    std::string why_not;
};
[[nodiscard]] LowSmKernel kernel_of(const LowSmRow& row);

}  // namespace switchfold::validation

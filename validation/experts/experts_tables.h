// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"
#include "validation/harness/suite.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// One measured dispatch or combine of a mixture-of-experts layer.
struct ExpertsRow {
    std::size_t line = 0;
    std::string table;  ///< column id: rows with equal id differ in their tokens
    std::string group;  ///< the table without its number of blocks
    /// None: an operation that is not simulated.
    std::optional<CollectiveKind> operation;
    std::string operation_name;  ///< as in the column
    std::string kernel;
    std::optional<ExpertsLibrary> library;  ///< none: a kernel that is not simulated
    std::string gpu;
    std::uint32_t gpus = 0;
    std::optional<std::uint32_t> nodes;
    std::string interconnect;
    std::uint32_t blocks = 0;  ///< 0: the library's default
    std::uint32_t tokens = 0;
    std::uint32_t hidden = 0;
    std::uint32_t top_k = 0;
    std::optional<std::uint32_t> experts;
    std::optional<ExpertPayload> payload;  ///< none: a type that is not simulated
    std::string datatype;
    double time_us = 0;
};

/// Reads the rows of mixture-of-experts exchanges (kind moe_*) from a CSV file with the columns
/// kind, id, operation, kernel, n_gpus, num_tokens, hidden, topk and time_us, and optionally gpu,
/// n_nodes, interconnect, blocks, dtype, num_experts. Throws ConfigError "file: line N: ..." with
/// all problems.
[[nodiscard]] std::vector<ExpertsRow> read_experts_tables(
    const std::filesystem::path& path, std::vector<Unmatched>* unread = nullptr);
[[nodiscard]] std::vector<ExpertsRow>
parse_experts_tables(std::string_view text, const std::string& label);

}  // namespace switchfold::validation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"
#include "validation/experiments/row_values.h"
#include "validation/experiments/table_map.h"
#include "validation/harness/suite.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// A row of the table of memory: what a policy needs, moves or saves.
struct MemoryRow {
    std::string id;
    std::string network;
    std::uint32_t batch = 1;
    std::optional<std::uint64_t> capacity_mib;
    std::string input;  ///< "3x224x224", "1024 tokens"
    std::string policy;
    std::string quantity;
    std::string unit;
    std::string kind;  ///< measured, claimed, simulated, derived
    double value = 0;
    bool known = true;  ///< whether a value is given
    std::string rule;   ///< of its source, by which it is answered; empty: none is known
    std::string why;    ///< reason why no rule answers it
    RowValues values;   ///< that the map sets

    [[nodiscard]] bool is_derived() const { return kind == "derived"; }
};

/// Rows, each with its rule by `map`. Throws ConfigError with all problems: missing columns,
/// invalid numbers.
[[nodiscard]] std::vector<MemoryRow> read_memory_rows(
    const std::filesystem::path& table, const TableMap& map,
    std::vector<Unmatched>* unread = nullptr);

/// Elements per sample of the network's input: from `input`, or for networks with a standard input.
/// Empty: unknown.
[[nodiscard]] std::optional<std::uint64_t> input_elements(const MemoryRow& row);

/// What the suite promises of answers of some kind, beside the limits of their groups.
enum class MemoryVerdict : std::uint8_t {
    kNone,
    kTimeline,
    kHostCopies,
    kExactPins,
    kGreedyPins,
    kGradients,
    kShapes,
    kLargestLayer,
    kStates,
    kSources,
};

/// What a rule says of a row.
struct MemoryAnswer {
    std::optional<double> value;
    std::string how = {};    ///< or why there is no value
    std::string group = {};  ///< empty: by the row's kind, as of rules that count shapes
    MemoryVerdict verdict = MemoryVerdict::kNone;
    bool fitted = false;

    static constexpr auto fields() {
        using A = MemoryAnswer;
        return list_of(
            member("value", &A::value), member("how", &A::how), member("group", &A::group),
            member("verdict", &A::verdict), member("fitted", &A::fitted));
    }
};

using MemoryRule = MemoryAnswer (*)(const MemoryRow& row, const SuiteOptions& options);
/// The rule that a map names; null if there is none of that name.
[[nodiscard]] MemoryRule memory_rule(std::string_view name);

/// Bytes (MiB) that planners pin in chains of layers with parameters.
[[nodiscard]] MemoryAnswer pinned_bytes(const MemoryRow& row, const SuiteOptions& options);
/// Memory for gradients under an update policy, in percent of all gradients: the peak in a replay
/// of the backward pass.
[[nodiscard]] MemoryAnswer gradient_memory(const MemoryRow& row, const SuiteOptions& options);
/// The same of the simulated timeline of a step, for rows of one buffer for all weight gradients.
[[nodiscard]] MemoryAnswer simulated_gradients(const MemoryRow& row, const SuiteOptions& options);
/// Whether that can be simulated: of built-in networks, which share embeddings as the row says.
[[nodiscard]] bool simulates_gradients(const MemoryRow& row);

}  // namespace switchfold::validation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "core/json.h"
#include "validation/experiments/named_places.h"
#include "validation/experiments/table_map.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold::validation {

/// A row that is left out, and why.
struct RowProblem {
    std::string why;
};

/// The values that a row sets, by pointer; the last for a pointer counts.
class RowValues {
public:
    void set(const std::string& pointer, const Json& value, std::string from);
    /// In the order of application: a value before the values inside it.
    [[nodiscard]] std::vector<Override> overrides() const;
    /// The value that is set at a pointer; null if none is.
    [[nodiscard]] const Json* find(const std::string& pointer) const;
    /// Where a pointer's value comes from: "column size"; the pointer itself if no value of the row
    /// is there, below or above.
    [[nodiscard]] std::string from_near(std::string_view pointer) const;

private:
    struct Value {
        Json value;
        std::string from;
    };
    std::map<std::string, Value> values_;
};

/// Why a rule of the map leaves the row out; empty if none does.
[[nodiscard]] std::string why_left_out(const TableMap& map, const CsvRecord& record);

/// Sets what the map's columns and rules say of a row. Throws RowProblem: a cell that is none of
/// the map's words.
void set_mapped(
    const TableMap& map, const CsvRecord& record, const NamedPlaces& places,
    const std::filesystem::path& table, RowValues& values);

/// The text with the row's cells for {NAME}, and for {NAME,} up to their first comma. `lacks`, if
/// given, is set if one of them is empty.
[[nodiscard]] std::string
filled(std::string_view text, const CsvRecord& record, bool* lacks = nullptr);

/// The longest of a map's words that a cell fits, with its value; null if it fits none.
template <class Value>
[[nodiscard]] const std::pair<const std::string, Value>*
word_of(const std::map<std::string, Value>& words, std::string_view cell) {
    const std::pair<const std::string, Value>* best = nullptr;
    for (const auto& word : words)
        if (meets(word.first, cell) && (best == nullptr || word.first.size() > best->first.size()))
            best = &word;
    return best;
}

/// Whether a row's cells fit all conditions.
[[nodiscard]] bool
fits_row(const std::map<std::string, std::string>& when, const CsvRecord& record);

}  // namespace switchfold::validation

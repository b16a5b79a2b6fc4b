// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/error.h"
#include "validation/harness/csv.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace switchfold::validation {

/// Reads fields of a table as numbers and collects all problems with the table.
class CsvNumbers {
public:
    explicit CsvNumbers(std::string label) : label_(std::move(label)) {}

    /// The field as a number from `least` to `most`; nothing if empty. Any other field is recorded
    /// as a problem that says `expected`, and gives nothing too.
    template <class T>
    std::optional<T> read(
        const CsvRecord& record,
        std::string_view column,
        T least,
        std::string_view expected,
        T most = std::numeric_limits<T>::max()) {
        return record[column].empty() ? std::nullopt
                                      : needed<T>(record, column, least, expected, most);
    }
    /// Like read(), but an empty field is a problem too.
    template <class T>
    std::optional<T> needed(
        const CsvRecord& record,
        std::string_view column,
        T least,
        std::string_view expected,
        T most = std::numeric_limits<T>::max()) {
        const std::string& text = record[column];
        T value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= least &&
            value <= most)
            return value;
        fail(record, column, expected);
        return std::nullopt;
    }

    /// "line N: COLUMN is "TEXT"; expected EXPECTED".
    void fail(const CsvRecord& record, std::string_view column, std::string_view expected);
    /// Records a problem with the header.
    void fail_header(std::string what);
    [[nodiscard]] bool failed() const { return !problems_.empty(); }
    /// Throws ConfigError with all problems if there are any.
    void throw_if_failed();

private:
    std::string label_;
    std::vector<Problem> problems_;
};

}  // namespace switchfold::validation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "core/error.h"
#include "validation/harness/suite.h"

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
    /// Rows that cannot be read go to `unread`, with the reason, and do not stop the others.
    /// Without it, they refuse the table.
    explicit CsvNumbers(std::string label, std::vector<Unmatched>* unread = nullptr) :
        label_(std::move(label)), unread_(unread) {}

    /// The field as a number from `least` to `most`; nothing if empty. Any other field is recorded
    /// as a problem that says `expected`, and gives nothing too.
    template <class T>
    std::optional<T> read(
        const CsvRecord& record, std::string_view column, T least, std::string_view expected,
        T most = std::numeric_limits<T>::max()) {
        return record[column].empty() ? std::nullopt
                                      : needed<T>(record, column, least, expected, most);
    }
    /// Like read(), but an empty field is a problem too.
    template <class T>
    std::optional<T> needed(
        const CsvRecord& record, std::string_view column, T least, std::string_view expected,
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
    /// Ends a row. \returns whether it is one of the rows: a row that cannot be read is not, if
    /// rows are left out.
    bool end_row(const CsvRecord& record);
    /// Throws ConfigError with all problems if there are any; after rows that were left out, only
    /// if none could be read.
    void throw_if_failed();

private:
    std::string label_;
    std::vector<Unmatched>* unread_;
    std::vector<Problem> problems_;
    std::size_t problems_before_ = 0;  ///< this row
    std::size_t rows_ = 0;             ///< that could be read
};

}  // namespace switchfold::validation

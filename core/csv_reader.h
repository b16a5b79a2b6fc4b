// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Reads the records of a CSV file (RFC 4180) one by one: a quoted cell may hold commas, quotes and
/// line ends. Every table of the program is read by it; what the cells mean, and how many there
/// must be, their readers say. core/csv.h has whole tables by column name.
class CsvReader {
public:
    /// Gives the next line without its end; false after the last.
    using NextLine = std::function<bool(std::string&)>;
    enum class Cells {
        kAsWritten,
        kTrimmed,  ///< without blanks around them
    };

    /// The text must outlive the reader.
    explicit CsvReader(std::string_view text, Cells cells = Cells::kAsWritten);
    /// For files that may be larger than memory.
    explicit CsvReader(NextLine next_line, Cells cells = Cells::kAsWritten);

    /// Between cells, of the records that follow; a comma unless told.
    void separate_by(char separator) { separator_ = separator; }
    /// Passes over lines that begin with "#", before a header.
    void skip_comments();
    /// The cells of the next record, without empty lines. \returns false at the end.
    bool next(std::vector<std::string>& cells);
    /// Number of its first line, from 1.
    [[nodiscard]] std::size_t line() const { return line_; }
    /// Whether the last record's quotes end; otherwise it runs to the end of the file.
    [[nodiscard]] bool whole() const { return whole_; }

private:
    bool take_line();
    void split(std::vector<std::string>& cells);
    /// Takes a quoted cell, of which the quote has been passed.
    void take_quoted(std::string& cell, std::size_t& at);

    std::string_view text_;
    NextLine next_line_;
    Cells cells_;
    char separator_ = ',';
    std::string current_;  ///< line
    std::size_t lines_ = 0;
    std::size_t line_ = 0;
    bool whole_ = true;
};

}  // namespace switchfold

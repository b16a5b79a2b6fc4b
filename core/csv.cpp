// SPDX-License-Identifier: Apache-2.0
#include "core/csv.h"

#include "core/csv_reader.h"
#include "core/csv_rows.h"
#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

namespace switchfold {

namespace {

std::string at_line(std::size_t line) {
    return fmt::format("line {}", line);
}

/// What is between the names of the header: a comma, or what tables of other programs have there.
char separator_of(std::string_view text) {
    while (text.starts_with('#'))
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    const std::string_view header = text.substr(0, text.find('\n'));
    for (const char separator : {',', ';', '\t'})
        if (header.find(separator) != std::string_view::npos)
            return separator;
    return ',';
}

class Parser {
public:
    /// `left_out`: the table is a user's. Records of a wrong number of fields go there instead of
    /// refusing the table; comments before the header, blanks around cells and other separators
    /// are passed over.
    Parser(
        std::string_view text, const std::string& label, std::vector<Problem>* left_out = nullptr) :
        reader_(
            text, left_out == nullptr ? CsvReader::Cells::kAsWritten : CsvReader::Cells::kTrimmed),
        label_(label),
        left_out_(left_out) {
        if (left_out == nullptr)
            return;
        reader_.skip_comments();
        reader_.separate_by(separator_of(text));
    }

    /// The header, then each record.
    template <class Header, class Each>
    void run(const Header& header, const Each& each) {
        std::vector<std::string> cells;
        take(cells);
        const std::vector<std::string> columns = cells;
        check_header(columns);
        header(columns);
        while (take(cells)) {
            if (cells.size() != columns.size()) {
                (left_out_ != nullptr ? *left_out_ : problems_)
                    .push_back(
                        {label_, at_line(reader_.line()),
                         fmt::format(
                             "has {} fields; expected {}, as the header has", cells.size(),
                             columns.size())});
                continue;
            }
            each(reader_.line(), cells);
        }
        if (!problems_.empty())
            throw ConfigError(std::move(problems_));
    }

    CsvTable table() {
        CsvTable table;
        run([&](const std::vector<std::string>& columns) { table.columns = columns; },
            [&](std::size_t line, const std::vector<std::string>& cells) {
                CsvRecord& r = table.records.emplace_back();
                r.line = line;
                for (std::size_t i = 0; i < cells.size(); ++i)
                    r.fields[table.columns[i]] = cells[i];
            });
        return table;
    }

private:
    bool take(std::vector<std::string>& cells) {
        if (!reader_.next(cells))
            return false;
        if (!reader_.whole())
            problems_.push_back(
                {label_, at_line(reader_.line()),
                 "holds a quote that does not end; expected a closing quote"});
        return true;
    }

    void check_header(const std::vector<std::string>& columns) {
        if (columns.size() < 2)
            throw ConfigError(
                label_, at_line(1),
                "has no header; expected a first line with the names of the columns");
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (std::find(
                    columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(i),
                    columns[i]) != columns.begin() + static_cast<std::ptrdiff_t>(i))
                throw ConfigError(
                    label_, at_line(1),
                    fmt::format("names column \"{}\" twice; expected each once", columns[i]));
    }

    CsvReader reader_;
    const std::string& label_;
    std::vector<Problem>* left_out_;
    std::vector<Problem> problems_;
};

}  // namespace

const std::string& CsvRecord::operator[](std::string_view column) const {
    static const std::string kNone;
    const auto at = fields.find(column);
    return at == fields.end() ? kNone : at->second;
}

bool CsvTable::has(std::string_view column) const {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
}

CsvTable parse_csv(std::string_view text, const std::string& label) {
    return Parser(text, label).table();
}

void parse_csv_cells(
    std::string_view text, const std::string& label,
    const std::function<void(const std::vector<std::string>& columns)>& header,
    const std::function<void(std::size_t line, const std::vector<std::string>& cells)>& each) {
    Parser(text, label).run(header, each);
}

namespace {

std::string text_of_table(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf()))
        throw ConfigError(path.string(), "", "cannot be read or is empty; expected a CSV file");
    std::string whole = text.str();
    if (whole.starts_with("\xFF\xFE") || whole.starts_with("\xFE\xFF"))
        throw ConfigError(path.string(), "", "is of UTF-16; expected UTF-8 (iconv -f UTF-16)");
    if (whole.starts_with("\xEF\xBB\xBF"))
        whole.erase(0, 3);
    return whole;
}

}  // namespace

void read_csv_cells(
    const std::filesystem::path& path,
    const std::function<void(const std::vector<std::string>& columns)>& header,
    const std::function<void(std::size_t line, const std::vector<std::string>& cells)>& each) {
    parse_csv_cells(text_of_table(path), path.string(), header, each);
}

CsvTable read_csv(const std::filesystem::path& path) {
    return parse_csv(text_of_table(path), path.string());
}

CsvTable read_csv_rows(const std::filesystem::path& path, std::vector<Problem>& left_out) {
    const std::string text = text_of_table(path);
    return Parser(text, path.string(), &left_out).table();
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of("\",\r\n") == std::string_view::npos)
        return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"')
            out += '"';
        out += c;
    }
    return out + '"';
}

}  // namespace switchfold

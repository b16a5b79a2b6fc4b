// SPDX-License-Identifier: Apache-2.0
#include "sim/energy/kernel_rows.h"

#include "core/error.h"
#include "sim/output/writers.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

namespace {

/// Reads one record: fields may be quoted and then hold commas, quotes and line ends (RFC 4180).
/// \returns false at the end of the file.
bool read_record(std::istream& in, std::vector<std::string>& fields, std::uint64_t& line) {
    fields.assign(1, {});
    bool quoted = false;
    bool any = false;
    for (std::string text; std::getline(in, text);) {
        ++line;
        any = true;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
                fields.back() += text[++i];
            else if (c == '"')
                quoted = !quoted;
            else if (c == ',' && !quoted)
                fields.emplace_back();
            else
                fields.back() += c;
        }
        if (!quoted)
            return true;
        fields.back() += '\n';
    }
    return any;
}

template <class T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// Places of the columns in the header that this version writes.
struct Columns {
    std::size_t scenario = 0;
    std::size_t rank = 1;
    std::size_t kernel_class = 4;
    std::size_t isolated = 8;
    std::size_t read = 11;
    std::size_t written = 12;
    std::size_t all = 14;
};

std::optional<KernelTableRow> row_of(const std::vector<std::string>& fields) {
    constexpr Columns kColumns;
    if (fields.size() != kColumns.all)
        return std::nullopt;
    const auto rank = number<std::uint32_t>(fields[kColumns.rank]);
    const auto isolated = number<double>(fields[kColumns.isolated]);
    const auto read = number<double>(fields[kColumns.read]);
    const auto written = number<double>(fields[kColumns.written]);
    if (!rank || !isolated || !read || !written || !std::isfinite(*isolated + *read + *written) ||
        *isolated < 0 || *read < 0 || *written < 0)
        return std::nullopt;
    return KernelTableRow{
        fields[kColumns.scenario], *rank, fields[kColumns.kernel_class], *isolated,
        *read + *written};
}

}  // namespace

void for_each_kernel_row(
    const std::filesystem::path& table, const std::function<bool(const KernelTableRow&)>& take) {
    std::ifstream in(table, std::ios::binary);
    if (!in)
        throw IoError(table.string(), errno == 0 ? ENOENT : errno, "read it");
    std::string header;
    std::getline(in, header);
    if (header + "\n" != kernel_csv_header())
        throw ConfigError(
            table.string(), "", "has another header; expected kernels.csv of this version");
    std::vector<std::string> fields;
    for (std::uint64_t line = 1; read_record(in, fields, line);) {
        const auto row = row_of(fields);
        if (!row || !take(*row))
            throw ConfigError(
                table.string(), "",
                fmt::format("line {} is no kernel of this run; expected its own table", line));
    }
}

}  // namespace switchfold

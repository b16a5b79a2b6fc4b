// SPDX-License-Identifier: Apache-2.0
#include "sim/energy/kernel_rows.h"

#include "core/csv_reader.h"
#include "core/error.h"
#include "sim/output/writers.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

namespace {

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
    CsvReader reader([&](std::string& line) { return static_cast<bool>(std::getline(in, line)); });
    std::vector<std::string> fields;
    reader.next(fields);
    if (fmt::format("{}\n", fmt::join(fields, ",")) != kernel_csv_header())
        throw ConfigError(
            table.string(), "", "has another header; expected kernels.csv of this version");
    while (reader.next(fields)) {
        const auto row = row_of(fields);
        if (!row || !take(*row))
            throw ConfigError(
                table.string(), "",
                fmt::format(
                    "line {} is not a kernel of this run; expected its own table", reader.line()));
    }
}

}  // namespace switchfold

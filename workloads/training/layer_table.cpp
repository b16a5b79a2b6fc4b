// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/layer_table.h"

#include "sim/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>

namespace switchfold {

namespace {

std::vector<std::string> split(std::string_view line, char at) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= line.size();) {
        const std::size_t to = std::min(line.find(at, from), line.size());
        std::string_view part = line.substr(from, to - from);
        if (part.ends_with('\r'))
            part.remove_suffix(1);
        parts.emplace_back(part);
        from = to + 1;
    }
    return parts;
}

constexpr std::array<std::string_view, 5> kColumns{
    "layer", "type", "params", "fwd_macs_per_sample", "out_elems_per_sample"};

}  // namespace

std::vector<Layer> parse_layer_table(std::string_view text, const std::string& label) {
    std::vector<std::string> lines = split(text, '\n');
    std::vector<Problem> problems;
    std::array<std::size_t, kColumns.size()> at{};
    const std::vector<std::string> header = split(lines.front(), ',');
    for (std::size_t c = 0; c < kColumns.size(); ++c) {
        const auto found = std::find(header.begin(), header.end(), kColumns[c]);
        if (found == header.end())
            problems.push_back(
                {label, "", fmt::format("line 1: has no column \"{}\"", kColumns[c])});
        at[c] = static_cast<std::size_t>(found - header.begin());
    }
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    std::vector<Layer> layers;
    for (std::size_t n = 1; n < lines.size(); ++n) {
        if (lines[n].empty())
            continue;
        const std::vector<std::string> cells = split(lines[n], ',');
        if (cells.size() != header.size()) {
            problems.push_back(
                {label,
                 "",
                 fmt::format(
                     "line {}: has {} cells; expected {}", n + 1, cells.size(), header.size())});
            continue;
        }
        const auto count = [&](std::size_t column) {
            const std::string& cell = cells[at[column]];
            std::uint64_t value = 0;
            const auto [end, error] =
                std::from_chars(cell.data(), cell.data() + cell.size(), value);
            if (error != std::errc{} || end != cell.data() + cell.size())
                problems.push_back(
                    {label,
                     "",
                     fmt::format(
                         "line {}: {} is \"{}\"; expected a whole number",
                         n + 1,
                         kColumns[column],
                         cell)});
            return value;
        };
        layers.push_back({cells[at[0]], cells[at[1]], count(2), count(3), count(4)});
    }
    if (layers.empty())
        problems.push_back(
            {label, "", "has no layer; expected at least one line below the header"});
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    return layers;
}

std::vector<Layer> read_layer_table(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw IoError(path.string(), errno, "open");
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    return parse_layer_table(text, path.string());
}

}  // namespace switchfold

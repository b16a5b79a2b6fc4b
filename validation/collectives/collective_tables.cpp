// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/collective_tables.h"

#include "core/error.h"
#include "core/text.h"
#include "validation/harness/csv_numbers.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

namespace switchfold::validation {

namespace {

std::optional<CollectiveKind> collective_of(std::string_view name) {
    const auto* const at =
        std::find_if(kCollectiveKinds.begin(), kCollectiveKinds.end(), [&](CollectiveKind kind) {
            return to_string(kind) == name;
        });
    return at == kCollectiveKinds.end() ? std::nullopt : std::optional(*at);
}

/// Value of the last digit of a decimal text.
double step_of(const std::string& text) {
    const auto point = text.find('.');
    return point == std::string::npos
               ? 1.0
               : std::pow(10.0, -static_cast<double>(text.size() - point - 1));
}

MeasuredRow row_of_table(const CsvRecord& record, CsvNumbers& numbers) {
    const auto whole = [&](std::string_view column, std::uint32_t least) {
        return numbers.read<std::uint32_t>(
            record, column, least, fmt::format("a whole number from {}", least));
    };
    const auto positive = [&](std::string_view column) {
        return numbers.read<double>(record, column, 0, "a number from 0");
    };
    MeasuredRow r;
    r.line = record.line;
    r.table = record["id"];
    if (r.table.empty())
        numbers.fail(record, "id", "the name of a table");
    r.collective_name = record["collective"];
    if (!r.collective_name.empty())
        r.collective = collective_of(r.collective_name);
    r.gpu = record["gpu"];
    constexpr std::uint32_t kFewest = 2;
    if (record["n_gpus"].empty())
        numbers.fail(record, "n_gpus", "how many GPUs took part");
    r.gpus = whole("n_gpus", kFewest).value_or(0);
    r.nodes = whole("n_nodes", 1);
    r.interconnect = record["interconnect"];
    r.algorithm = record["algo"];
    r.channels = whole("channels", 1);
    r.library_version = record["nccl_version"];
    r.datatype = record["dtype"];
    r.placement = record["placement"];
    r.bytes = numbers.read<std::uint64_t>(record, "size_bytes", 1, "a whole number from 1");
    r.time_us = positive("time_us");
    r.algorithm_bandwidth = positive("algbw_GBps");
    r.algorithm_bandwidth_step = step_of(record["algbw_GBps"]);
    r.bus_bandwidth = positive("busbw_GBps");
    r.bus_bandwidth_step = step_of(record["busbw_GBps"]);
    return r;
}

std::vector<MeasuredRow> rows_of_table(
    const CsvTable& table, const std::string& label, std::vector<Unmatched>* unread = nullptr) {
    CsvNumbers numbers(label, unread);
    for (const char* column : {"id", "n_gpus", "size_bytes"})
        if (!table.has(column))
            numbers.fail_header(
                fmt::format("names no column {}; expected id, n_gpus, size_bytes", column));
    if (!table.has("time_us") && !table.has("algbw_GBps") && !table.has("busbw_GBps"))
        numbers.fail_header("names no measured column; expected time_us, algbw_GBps or busbw_GBps");
    numbers.throw_if_failed();
    std::vector<MeasuredRow> rows;
    for (const CsvRecord& record : table.records) {
        rows.push_back(row_of_table(record, numbers));
        if (!numbers.end_row(record))
            rows.pop_back();
    }
    numbers.throw_if_failed();
    if (rows.empty())
        throw ConfigError(label, "line 2", "does not exist; expected at least one row");
    return rows;
}

}  // namespace

std::vector<MeasuredRow> parse_collective_tables(std::string_view text, const std::string& label) {
    return rows_of_table(parse_csv(text, label), label);
}

std::vector<MeasuredRow>
read_collective_tables(const std::filesystem::path& path, std::vector<Unmatched>* unread) {
    return rows_of_table(read_csv(path), path.string(), unread);
}

double bus_bandwidth_GBps(CollectiveKind kind, std::uint64_t bytes, std::uint32_t gpus, double us) {
    return static_cast<double>(bytes) * bus_factor(kind, gpus) / us * 1e-3;
}

std::optional<MeasuredTime> measured_time(const MeasuredRow& row) {
    if (row.time_us && *row.time_us > 0)
        return MeasuredTime{*row.time_us, std::nullopt, std::nullopt};
    if (!row.bytes || !row.collective)
        return std::nullopt;
    // Half a unit of the last digit in each direction, as a share of the bandwidth.
    const auto doubt = [](const std::optional<double>& bandwidth, double step) {
        return bandwidth && *bandwidth > 0 ? step / 2 / *bandwidth : 1.0;
    };
    const double by_bus = doubt(row.bus_bandwidth, row.bus_bandwidth_step);
    const double by_algorithm = doubt(row.algorithm_bandwidth, row.algorithm_bandwidth_step);
    const double share = std::min(by_bus, by_algorithm);
    if (share >= 0.5)
        return std::nullopt;
    const double algorithm_bandwidth =
        by_bus <= by_algorithm ? *row.bus_bandwidth / bus_factor(*row.collective, row.gpus)
                               : *row.algorithm_bandwidth;
    const double us = static_cast<double>(*row.bytes) / algorithm_bandwidth * 1e-3;
    return MeasuredTime{us, us / (1 + share), us / (1 - share)};
}

std::optional<std::uint32_t> library_version(std::string_view text) {
    const std::string all(text);
    std::smatch found;
    static const std::regex kDotted(R"((?:^|[^\d.])(\d{1,2})\.(\d{1,2})(?:\.(\d{1,2}))?)");
    static const std::regex kPacked(R"((?:^|[^\d.])(\d)(\d{2})(\d{2})(?:$|\D))");
    if (!std::regex_search(all, found, kDotted) && !std::regex_search(all, found, kPacked))
        return std::nullopt;
    const auto part = [&](std::size_t i) {
        return found[i].matched ? static_cast<std::uint32_t>(std::stoul(found[i].str())) : 0U;
    };
    return part(1) * 10'000 + part(2) * 100 + part(3);
}

AlgorithmWords algorithm_words(const MeasuredRow& row) {
    AlgorithmWords words;
    const std::string label = lower(row.algorithm);
    const std::string all = label + " " + lower(row.interconnect);
    static const std::regex kOff(
        R"(nvls[ _]*(enable)?[ _]*(off|disabled|=\s*0|0\b)|(no|without|w/o) nvls|nvls multicast support is not available|no nvswitch multicast)");
    words.in_switch_off = std::regex_search(all, kOff);
    constexpr std::uint32_t kFirstWithNvls = 21'700;  // NCCL 2.17 introduced NVLS
    if (const auto version = library_version(row.library_version);
        version && *version >= 20'000 && *version < kFirstWithNvls)
        words.in_switch_off = true;
    const bool only_ring = contains(label, "ring") && !contains(label, "ring/");
    if (contains(label, "collnet"))
        words.algorithm = Algorithm::kCollnet;
    else if (contains(label, "tree") && !contains(label, "nvls"))
        words.algorithm = Algorithm::kTree;
    else if (only_ring)
        words.algorithm = Algorithm::kRing;
    else if (contains(label, "nvls") && !words.in_switch_off)
        words.algorithm = contains(label, "tree") ? Algorithm::kInSwitchTree : Algorithm::kInSwitch;
    if (contains(label, "as stated in the source"))
        words.doubt = fmt::format("the label \"{}\" stands at every size", row.algorithm);
    if (contains(lower(row.placement), "size given as"))
        words.doubt += (words.doubt.empty() ? "" : "; ") + std::string("sizes were given rounded");
    if (!words.doubt.empty())
        words.algorithm = Algorithm::kAuto;
    return words;
}

}  // namespace switchfold::validation

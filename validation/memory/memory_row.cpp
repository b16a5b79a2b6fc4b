// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/memory_row.h"

#include "core/text_cells.h"
#include "validation/harness/csv_numbers.h"

#include <fmt/format.h>

#include <array>
#include <map>

namespace switchfold::validation {

namespace {

/// What the map sets for rows of its kind.
void set_by_rules(const TableMap& map, const CsvRecord& record, MemoryRow& row) {
    for (const MapRule& rule : map.rules)
        if (fits_row(rule.when, record))
            for (const auto& [pointer, value] : rule.set)
                row.values.set(pointer, value.json, "the map");
    if (const Json* const rule = row.values.find("/rule"))
        row.rule = rule->get<std::string>();
    row.why = why_left_out(map, record);
}

}  // namespace

std::vector<MemoryRow> read_memory_rows(
    const std::filesystem::path& table, const TableMap& map, std::vector<Unmatched>* unread) {
    const CsvTable csv = read_csv(table);
    CsvNumbers numbers(table.string(), unread);
    constexpr std::array kColumns{"id",     "network",  "batch", "capacity_mib", "input",
                                  "policy", "quantity", "value", "unit",         "kind"};
    for (const char* column : kColumns)
        if (!csv.has(column))
            numbers.fail_header(
                fmt::format("names no column {}; expected {}", column, fmt::join(kColumns, ", ")));
    numbers.throw_if_failed();
    std::vector<MemoryRow> rows;
    for (const CsvRecord& record : csv.records) {
        MemoryRow row;
        row.id = record["id"];
        row.network = record["network"];
        row.batch = numbers.read<std::uint32_t>(record, "batch", 1, "samples").value_or(1);
        row.capacity_mib = numbers.read<std::uint64_t>(record, "capacity_mib", 1, "MiB");
        row.input = record["input"];
        row.policy = record["policy"];
        row.quantity = record["quantity"];
        row.unit = record["unit"];
        row.kind = record["kind"];
        const auto value = numbers.read<double>(record, "value", -1e18, "a number");
        row.value = value.value_or(0);
        row.known = value.has_value();
        set_by_rules(map, record, row);
        if (numbers.end_row(record))
            rows.push_back(std::move(row));
    }
    numbers.throw_if_failed();
    return rows;
}

std::optional<std::uint64_t> input_elements(const MemoryRow& row) {
    static const std::map<std::string, std::uint64_t, std::less<>> kUsual{
        {"alexnet", 3ULL * 224 * 224},  {"vgg16", 3ULL * 224 * 224},
        {"resnet50", 3ULL * 224 * 224}, {"inception_v3", 3ULL * 299 * 299},
        {"gpt2_small", 1024},           {"bert_large", 512}};
    if (row.input.empty()) {
        const auto found = kUsual.find(row.network);
        return found == kUsual.end() ? std::nullopt : std::optional(found->second);
    }
    if (const auto tokens = row.input.find(" tokens"); tokens != std::string::npos)
        return parse_count(row.input.substr(0, tokens));
    std::uint64_t elements = 1;
    for (const std::string& side : split_text(row.input, 'x')) {
        const auto count = parse_count(side);
        if (!count)
            return {};
        elements *= *count;
    }
    return elements;
}

}  // namespace switchfold::validation

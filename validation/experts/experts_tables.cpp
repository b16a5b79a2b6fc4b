// SPDX-License-Identifier: Apache-2.0
#include "validation/experts/experts_tables.h"

#include "validation/harness/csv_numbers.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <limits>
#include <utility>

namespace switchfold::validation {

namespace {

template <class T, std::size_t N>
std::optional<T>
named(const std::array<std::pair<std::string_view, T>, N>& names, std::string_view text) {
    for (const auto& [name, value] : names)
        if (name == text)
            return value;
    return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 2> kOperations{
    {{"moe_dispatch", CollectiveKind::kMoeDispatch}, {"moe_combine", CollectiveKind::kMoeCombine}}};
constexpr std::array<std::pair<std::string_view, ExpertsLibrary>, 3> kKernels{
    {{"DeepEP intranode", ExpertsLibrary::kDeepepNormal},
     {"DeepEP low latency", ExpertsLibrary::kDeepepLowLatency},
     {"NVLinkTwoSided", ExpertsLibrary::kTrtllmTwoSided}}};
constexpr std::array<std::pair<std::string_view, ExpertPayload>, 4> kPayloads{
    {{"bfloat16", ExpertPayload::kBfloat16},
     {"fp8 + scales", ExpertPayload::kFloat8},
     {"fp8", ExpertPayload::kFloat8},
     {"nvfp4", ExpertPayload::kNvfp4}}};

/// A table's name without "_8b" at its end.
std::string without_blocks(const std::string& table) {
    const auto at = table.rfind('_');
    if (at == std::string::npos || table.back() != 'b' || at + 2 >= table.size() ||
        table.find_first_not_of("0123456789", at + 1) != table.size() - 1)
        return table;
    return table.substr(0, at);
}

class ExpertsTableReader {
public:
    ExpertsTableReader(
        const CsvTable& table, const std::string& label, std::vector<Unmatched>* unread = nullptr) :
        table_(table), numbers_(label, unread) {}

    std::vector<ExpertsRow> run() {
        need({"kind"});
        std::vector<const CsvRecord*> chosen;
        for (const CsvRecord& record : table_.records)
            if (record["kind"].starts_with("moe_"))
                chosen.push_back(&record);
        // Tables of other kinds have other columns.
        if (!chosen.empty())
            need(
                {"id", "operation", "kernel", "n_gpus", "num_tokens", "hidden", "topk", "time_us"});
        std::vector<ExpertsRow> rows;
        for (const CsvRecord* record : chosen) {
            rows.push_back(row(*record));
            if (!numbers_.end_row(*record))
                rows.pop_back();
        }
        numbers_.throw_if_failed();
        return rows;
    }

private:
    void need(std::initializer_list<const char*> columns) {
        for (const char* column : columns)
            if (!table_.has(column))
                numbers_.fail_header(fmt::format("has no column {}; expected it", column));
        numbers_.throw_if_failed();
    }
    std::optional<std::uint32_t> whole(const CsvRecord& record, std::string_view column) {
        return numbers_.read<std::uint32_t>(record, column, 1, kWhole);
    }
    std::uint32_t needed(const CsvRecord& record, std::string_view column) {
        return numbers_.needed<std::uint32_t>(record, column, 1, kWhole).value_or(0);
    }
    ExpertsRow row(const CsvRecord& record) {
        ExpertsRow r;
        r.line = record.line;
        r.table = record["id"];
        if (r.table.empty())
            numbers_.fail(record, "id", "the name of a table");
        r.group = without_blocks(r.table);
        r.operation_name = record["operation"];
        r.operation = named(kOperations, r.operation_name);
        r.kernel = record["kernel"];
        r.library = named(kKernels, r.kernel);
        r.gpu = record["gpu"];
        r.gpus = needed(record, "n_gpus");
        r.nodes = whole(record, "n_nodes");
        r.interconnect = record["interconnect"];
        r.blocks = whole(record, "blocks").value_or(0);
        r.tokens = needed(record, "num_tokens");
        r.hidden = needed(record, "hidden");
        r.top_k = needed(record, "topk");
        r.experts = whole(record, "num_experts");
        r.datatype = record["dtype"];
        r.payload = named(kPayloads, r.datatype);
        r.time_us =
            numbers_
                .needed<double>(
                    record, "time_us", std::numeric_limits<double>::min(), "a number above 0")
                .value_or(0);
        return r;
    }

    static constexpr std::string_view kWhole = "a whole number from 1";
    const CsvTable& table_;
    CsvNumbers numbers_;
};

}  // namespace

std::vector<ExpertsRow> parse_experts_tables(std::string_view text, const std::string& label) {
    const CsvTable table = parse_csv(text, label);
    return ExpertsTableReader(table, label).run();
}

std::vector<ExpertsRow> read_experts_tables(
    const std::filesystem::path& path, std::vector<Unmatched>* unread) {
    const CsvTable table = read_csv(path);
    return ExpertsTableReader(table, path.string(), unread).run();
}

}  // namespace switchfold::validation

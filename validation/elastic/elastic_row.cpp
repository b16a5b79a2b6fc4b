// SPDX-License-Identifier: Apache-2.0
#include "validation/elastic/elastic_row.h"

#include "core/csv.h"
#include "validation/experiments/row_values.h"
#include "validation/harness/csv_numbers.h"

#include <fmt/format.h>

#include <limits>
#include <set>

namespace switchfold::validation {

std::vector<ElasticRow> read_elastic_rows(
    const std::filesystem::path& path, const TableMap& map, std::vector<Unmatched>* unread) {
    const CsvTable table = read_csv(path);
    CsvNumbers numbers(path.string(), unread);
    for (const char* column :
         {"id", "gpu", "n_gpus", "model", "change", "phase", "quantity", "value", "unit"})
        if (!table.has(column))
            numbers.fail_header(fmt::format("has no column \"{}\"; expected it", column));
    numbers.throw_if_failed();
    std::vector<ElasticRow> rows;
    std::set<std::string> ids;
    for (const CsvRecord& record : table.records) {
        ElasticRow& row = rows.emplace_back();
        row.id = record["id"];
        row.why = why_left_out(map, record);
        if (row.id.empty() || !ids.insert(row.id).second)
            numbers.fail(record, "id", "an id that no other row has");
        row.source = record["source"].substr(0, record["source"].find_first_of(":@"));
        row.gpu = record["gpu"];
        row.interconnect = record["interconnect"];
        row.model = record["model"];
        row.change = record["change"];
        row.placement = record["placement"];
        row.phase = record["phase"];
        row.quantity = record["quantity"];
        row.unit = record["unit"];
        row.kind = record["kind"];
        row.note = record["note"];
        const auto count = [&](const char* column) {
            return numbers.read<std::uint32_t>(record, column, 1, "a number of GPUs").value_or(0);
        };
        row.gpus = count("n_gpus");
        row.nodes = count("n_nodes");
        row.from_gpus = count("from_gpus");
        row.to_gpus = count("to_gpus");
        row.batch =
            numbers.read<std::uint32_t>(record, "batch", 1, "a number of samples").value_or(0);
        // The value may be a formula, which is marked as assumed.
        row.value = row.kind == "assumed"
                        ? std::numeric_limits<double>::quiet_NaN()
                        : numbers.needed<double>(record, "value", 0, "a number").value_or(0);
        if (!numbers.end_row(record))
            rows.pop_back();
    }
    numbers.throw_if_failed();
    return rows;
}

}  // namespace switchfold::validation

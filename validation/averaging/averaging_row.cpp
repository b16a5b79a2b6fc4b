// SPDX-License-Identifier: Apache-2.0
#include "validation/averaging/averaging_row.h"

#include "core/csv.h"
#include "validation/harness/csv_numbers.h"

#include <fmt/format.h>

#include <set>

namespace switchfold::validation {

std::vector<AveragingRow> read_averaging_rows(const std::filesystem::path& path) {
    const CsvTable table = read_csv(path);
    CsvNumbers numbers(path.string());
    for (const char* column : {"id", "hardware", "quantity", "value", "unit", "kind", "note"})
        if (!table.has(column))
            numbers.fail_header(fmt::format("has no column \"{}\"; expected it", column));
    numbers.throw_if_failed();
    std::vector<AveragingRow> rows;
    std::set<std::string> ids;
    for (const CsvRecord& record : table.records) {
        AveragingRow& row = rows.emplace_back();
        row.id = record["id"];
        if (row.id.empty() || !ids.insert(row.id).second)
            numbers.fail(record, "id", "an id that no other row has");
        row.hardware = record["hardware"];
        if (table.has("model"))
            row.model = record["model"];
        if (table.has("algorithm"))
            row.algorithm = record["algorithm"];
        if (table.has("workers"))
            row.workers =
                numbers.read<std::uint32_t>(record, "workers", 1, "a whole number").value_or(0);
        if (table.has("bytes"))
            row.bytes =
                numbers.read<std::uint64_t>(record, "bytes", 1, "a whole number").value_or(0);
        row.quantity = record["quantity"];
        row.unit = record["unit"];
        row.kind = record["kind"];
        row.note = record["note"];
        row.value = numbers.needed<double>(record, "value", 0, "a number").value_or(0);
    }
    numbers.throw_if_failed();
    return rows;
}

}  // namespace switchfold::validation

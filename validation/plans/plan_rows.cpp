// SPDX-License-Identifier: Apache-2.0
#include "validation/plans/plan_rows.h"

#include "core/csv.h"
#include "core/error.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold::validation {

namespace {

/// Adds a missing column with a constant value.
void complete_column(CsvTable& table, const char* column, const char* value) {
    if (table.has(column))
        return;
    table.columns.emplace_back(column);
    for (CsvRecord& record : table.records)
        record.fields[column] = value;
}

}  // namespace

std::vector<PlanRow>
read_plan_rows(const std::filesystem::path& path, const std::filesystem::path& root) {
    CsvTable table = read_csv(path);
    std::vector<Problem> problems;
    for (const char* column : {"task", "tp", "dp", "pp", "micro_batch", "micro_batches", "step_ms"})
        if (!table.has(column))
            problems.push_back(
                {path.string(), "line 1",
                 fmt::format(
                     "names no column {}; expected task, tp, dp, pp, micro_batch, micro_batches, "
                     "step_ms",
                     column)});
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    complete_column(table, "framework", "Megatron-DeepSpeed");
    complete_column(table, "schedule", "1f1b");
    complete_column(table, "precision", "16-bit");
    std::vector<StepRow> steps = step_rows(table, path.string(), root);
    std::vector<PlanRow> rows;
    for (std::size_t i = 0; i < steps.size(); ++i)
        rows.push_back({table.records[i]["task"], std::move(steps[i])});
    return rows;
}

bool is_pure_data_parallel(const StepRow& row) {
    return row.plan.data == row.gpus;
}

}  // namespace switchfold::validation

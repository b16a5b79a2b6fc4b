// SPDX-License-Identifier: Apache-2.0
#include "validation/training/steps.h"

#include "sim/machine/likeness.h"
#include "sim/machine/system_queries.h"
#include "training/plan/fold/folded_step.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/step/plan_step.h"
#include "validation/harness/number_jobs.h"
#include "validation/machines/machines.h"
#include "validation/training/planned_row.h"
#include "validation/training/speedups.h"
#include "validation/training/step_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace switchfold::validation {

namespace {

constexpr std::uint32_t kMostRanks = 16;     ///< more ranks are folded, if that is by passes
constexpr std::uint32_t kMostUnfolded = 32;  ///< otherwise as many are simulated one by one

/// Why the ranks of a row are not folded; empty if they are.
std::string why_not_folded(const PlannedStepRow& planned) {
    return why_not_folded(*planned.step, gpus_of_machine(*planned.system));
}

/// Peak memory; excludes the framework's own memory and workspaces.
Case memory_case(const PlannedStepRow& planned) {
    double most = 0;
    for (const MemoryBytes& device : plan_memory(*planned.step))
        most = std::max(most, device.all());
    Case c;
    c.id = planned.row->id + "/memory";
    c.group = "memory, " + planned.row->source;
    c.quantity = "memory";
    c.unit = "GB";
    c.measured = planned.row->memory * 1e-9;
    c.simulated = most * 1e-9;
    return c;
}

std::string group_of(const StepRow& row) {
    return fmt::format("{}, {}", row.source, row.gpu);
}

}  // namespace

void compare_steps(
    const std::filesystem::path& table, const SuiteOptions& options, SuiteResult& result) {
    const std::vector<StepRow> rows = read_step_rows(table, options.root);
    const Machines machines(options.root);
    std::vector<PlannedStepRow> planned;
    for (const StepRow& row : rows) {
        if (states_speedup(row))
            continue;
        std::string why = row.why;
        if (why.empty() && row.seconds == 0)
            why = "it states no time of a step";
        MachineMatch match;
        if (why.empty()) {
            match = machine_of(row, machines);
            why = match.why;
        }
        if (why.empty()) {
            planned.push_back(planned_row(row, match.machine->system));
            if (row.gpus > kMostUnfolded)
                why = why_not_folded(planned.back());
            if (!why.empty())
                planned.pop_back();
        }
        if (!why.empty())
            result.unmatched.push_back({row.id, why});
    }
    std::vector<NumberJob> jobs;
    for (const PlannedStepRow& p : planned)
        jobs.push_back(
            {p.row->id,
             [&p](const JobProgress& progress) {
                 const bool fold = p.row->gpus > kMostRanks &&
                                   (p.row->gpus > kMostUnfolded || folds_by_passes(*p.step)) &&
                                   why_not_folded(p).empty();
                 return simulated_seconds(p, fold, progress);
             },
             work_of(p)});
    const std::vector<double> seconds = run_number_jobs(jobs, options);
    for (std::size_t i = 0; i < planned.size(); ++i) {
        const StepRow& row = *planned[i].row;
        Case c;
        c.id = row.id;
        c.group = group_of(row);
        c.quantity = "time of a step";
        c.unit = "ms";
        c.measured = row.seconds * 1e3;
        c.simulated = seconds[i] * 1e3;
        c.like = step_likeness(row, *planned[i].system);
        c.machine = planned[i].system->name;
        c.how = fmt::format(
            "{} on {}, {}", row.network->name, planned[i].system->name, row.plan.schedule);
        result.cases.push_back(std::move(c));
    }
    for (const PlannedStepRow& p : planned)
        if (p.row->memory > 0)
            result.cases.push_back(memory_case(p));
    compare_speedups(rows, machines, options, result);
}

}  // namespace switchfold::validation

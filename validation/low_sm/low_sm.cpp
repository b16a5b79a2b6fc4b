// SPDX-License-Identifier: Apache-2.0
#include "sim/core/json.h"
#include "sim/run/machine/likeness.h"
#include "sim/run/machine/simulate.h"
#include "sim/run/machine/system_queries.h"
#include "sim/run/pool/pool.h"
#include "sim/run/results/summary.h"
#include "validation/harness/data.h"
#include "validation/harness/suite.h"
#include "validation/low_sm/low_sm_rows.h"
#include "validation/machines/machines.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

namespace switchfold::validation {

namespace {

/// Tolerance for each table of modelled kernels, as a mean absolute error.

struct PlannedLowSm {
    const LowSmRow* row = nullptr;
    std::string id;
    SystemParams system;
    LowSmKernel kernel;
};

Job low_sm_job(const PlannedLowSm& planned) {
    return {planned.id, [&planned](const JobProgress& progress) {
                SimulateOptions options;
                options.progress = progress;
                const LowSmRow& row = *planned.row;
                const std::uint64_t element = size_of(row.datatype).count();
                const ExecutionGraph graph = single_collective(
                    row.kind,
                    Bytes(std::max(element, row.bytes / element * element)),
                    row.datatype,
                    row.gpus);
                const CollectiveResult done =
                    collective_results(
                        graph, simulate(planned.system, graph, planned.kernel.policy, options))
                        .at(0);
                return OrderedJson{
                    done.time_us,
                    fmt::format("{} {} {}", done.algorithm, done.protocol, done.channels),
                    done.algorithm}
                    .dump();
            }};
}

class LowSmPlanner {
public:
    LowSmPlanner(const Machines& machines, SuiteResult& result) :
        machines_(machines), result_(result) {}

    std::vector<PlannedLowSm> run(const std::vector<LowSmRow>& rows) {
        for (const LowSmRow& row : rows)
            add(row);
        if (by_times_ > 0)
            result_.notes.push_back(fmt::format(
                "{} rows name no GPU but a generation or a compute capability: taken as an HGX "
                "H100",
                by_times_));
        return std::move(planned_);
    }

private:
    void add(const LowSmRow& row) {
        PlannedLowSm planned{&row, fmt::format("{}/{}", row.table, row.bytes), {}, kernel_of(row)};
        if (row.blocks != 0)
            planned.id += fmt::format("/{} blocks", row.blocks);
        const auto refuse = [&](const std::string& why) {
            result_.unmatched.push_back({planned.id, why});
        };
        if (!planned.kernel.why_not.empty())
            return refuse(planned.kernel.why_not);
        WantedMachine wanted{row.gpu, row.interconnect, row.gpus, row.nodes};
        if (row.gpu.find("Hopper") != std::string::npos ||
            row.gpu.find("capability 9.0") != std::string::npos) {
            wanted.gpu = "NVIDIA H100";
            ++by_times_;
        }
        MachineMatch match = machines_.find(wanted);
        if (!match.machine)
            return refuse(match.why);
        planned.system = std::move(match.machine->system);
        const CollectiveCall call{row.kind, Bytes(row.bytes), row.datatype};
        if (const std::string why =
                why_refused(planned.system, planned.kernel.policy, call, row.gpus);
            !why.empty())
            return refuse(why);
        planned_.push_back(std::move(planned));
    }

    const Machines& machines_;
    SuiteResult& result_;
    std::vector<PlannedLowSm> planned_;
    std::size_t by_times_ = 0;
};

Case low_sm_case(const PlannedLowSm& planned, const Machines& machines, const std::string& bytes) {
    const OrderedJson done = OrderedJson::parse(bytes);
    Case c;
    c.id = planned.id;
    c.group = planned.row->table;
    c.quantity = "time";
    c.unit = "us";
    c.measured = planned.row->microseconds;
    c.simulated = done[0].get<double>();
    c.how = done[1].get<std::string>();
    c.fitted = machines.fitted_on(planned.row->table);
    c.like = likeness_on(planned.system, "collective", planned.row->gpus);
    c.like.operation = to_string(planned.row->kind);
    c.like.algorithm = done[2].get<std::string>();
    c.like.bytes = static_cast<double>(planned.row->bytes);
    c.machine = planned.system.name;
    return c;
}

}  // namespace

SuiteResult run_low_sm(const SuiteOptions& options) {
    const Suite& suite = suite_named("low_sm");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    std::size_t others = 0;
    std::vector<LowSmRow> rows = read_low_sm_rows(*data, others, &result.unmatched);
    if (const auto more = find_data(options, "reference/copy_engines.csv"); more && *more != *data)
        for (LowSmRow& row : read_low_sm_rows(*more, others, &result.unmatched))
            rows.push_back(std::move(row));
    const Machines machines(options.root);
    const std::vector<PlannedLowSm> planned = LowSmPlanner(machines, result).run(rows);
    std::vector<Job> jobs;
    for (const PlannedLowSm& one : planned)
        jobs.push_back(low_sm_job(one));
    result.cases.resize(jobs.size());
    run_jobs(jobs, options.jobs, options.progress, [&](std::size_t job, const JobResult& done) {
        if (done.code != ExitCode::kDone)
            rethrow(jobs[job], done);
        result.cases[job] = low_sm_case(planned[job], machines, done.bytes);
    });
    if (others > 0)
        result.notes.push_back(
            fmt::format("{} rows are of other kinds than collectives of few SMs", others));
    return result;
}

}  // namespace switchfold::validation

// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/folded_plan.h"

#include "sim/machine/system_queries.h"
#include "sim/pool/outcome_codec.h"
#include "sim/pool/pool.h"

#include <vector>

namespace switchfold {

namespace {

std::vector<Time> times_of_pieces(const FoldedStep& folded, const Outcome& outcome) {
    std::vector<Time> times;
    for (const FoldedStep::Marks& piece : folded.pieces())
        times.push_back(outcome.times[0][piece.before].start - outcome.times[0][piece.after].end);
    return times;
}

}  // namespace

FoldedStep folded_step(const PlannedStep& step, const SystemParams& system) {
    return {step, gpus_of_machine(system), own_ways_out(system)};
}

ExecutionGraph measured_step(
    const FoldedStep& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options) {
    return folded.graph(
        times_of_pieces(folded, simulate(system, folded.probe(), policies, options)));
}

ExecutionGraph measured_step_apart(
    const FoldedStep& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options, const RunJobs& run) {
    const std::vector<Job> jobs{{"pieces of the step", [&](const JobProgress& progress) {
                                     SimulateOptions told = options;
                                     told.progress = progress;
                                     return encode(
                                         simulate(system, folded.probe(), policies, told));
                                 }}};
    Outcome outcome;
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        outcome = decode(result.bytes);
    });
    return folded.graph(times_of_pieces(folded, outcome));
}

}  // namespace switchfold

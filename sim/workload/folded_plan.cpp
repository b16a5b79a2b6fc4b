// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/folded_plan.h"

#include "sim/machine/system_queries.h"
#include "sim/pool/outcome_codec.h"
#include "sim/pool/pool.h"
#include "sim/workload/folded_probes.h"

#include <vector>

namespace switchfold {

FoldedStep folded_step(const PlannedStep& step, const SystemParams& system) {
    return {step, gpus_of_machine(system), own_ways_out(system)};
}

ExecutionGraph measured_step(
    const FoldedStep& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options) {
    const FoldedProbes probes(folded, system, policies);
    std::vector<Outcome> outcomes;
    for (const FoldedProbes::Run& run : probes.runs())
        outcomes.push_back(FoldedProbes::told(simulate(system, run.graph, run.policies, options)));
    return folded.graph(probes.measured(outcomes));
}

ExecutionGraph measured_step_apart(
    const FoldedStep& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options, const RunJobs& run) {
    const FoldedProbes probes(folded, system, policies);
    std::vector<Job> jobs;
    for (const FoldedProbes::Run& probe : probes.runs())
        jobs.push_back({probe.label, [&](const JobProgress& progress) {
                            SimulateOptions told = options;
                            told.progress = progress;
                            return encode(FoldedProbes::told(
                                simulate(system, probe.graph, probe.policies, told)));
                        }});
    std::vector<Outcome> outcomes(jobs.size());
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        outcomes[job] = decode(result.bytes);
    });
    return folded.graph(probes.measured(outcomes));
}

}  // namespace switchfold

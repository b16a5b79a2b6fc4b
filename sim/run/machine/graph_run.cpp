// SPDX-License-Identifier: Apache-2.0
#include "sim/run/machine/graph_run.h"

#include "interconnect/reduction_tree.h"
#include "sim/run/machine/simulate.h"
#include "sim/run/results/summary.h"

#include <numeric>

namespace switchfold {

GraphRun run_graph(
    const SystemParams& system,
    const ExecutionGraph& graph,
    const AllReducePolicy& policy,
    const GraphRunOptions& options) {
    SimulateOptions simulated;
    simulated.contention = options.contention;
    if (options.progress)
        simulated.progress = [&](double share, std::uint64_t events) {
            options.progress(share, events);
            return true;
        };
    const Outcome outcome = simulate(system, graph, policy, simulated);
    GraphRun run;
    for (const auto& rank : outcome.times) {
        auto& times = run.times.emplace_back();
        for (const OperationTimes& t : rank)
            times.push_back({t.start, t.end});
    }
    run.collectives = collective_results(graph, outcome);
    run.notes = outcome.notes;
    run.end = Time(outcome.end_ps);
    run.events = outcome.events;
    return run;
}

std::uint32_t gpus_of(const SystemParams& system) {
    return build_topology(system.topology).gpus();
}

bool can_reduce_in_switch(const SystemParams& system, std::uint32_t ranks) {
    std::vector<std::uint32_t> members(ranks);
    std::iota(members.begin(), members.end(), 0U);
    return why_no_reduction(build_topology(system.topology), members).empty();
}

}  // namespace switchfold

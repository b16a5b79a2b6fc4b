// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/folded_workload.h"

#include "interconnect/topology_builder.h"
#include "sim/pool/outcome_codec.h"
#include "sim/pool/pool.h"
#include "sim/workload/folded_probes.h"
#include "sim/workload/workload_context.h"
#include "workloads/graph/jitter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

std::string why_all_are_met(const WorkloadContext& context) {
    if (context.is_placed())
        return "other workloads share the machine, which the ranks that are left out would meet";
    if (minds_congestion(*context.system().topology))
        return "queues of the network are made by all of them (topology/congestion)";
    return {};
}

bool whole_passes(const SimulateOptions& options) {
    return options.fidelity == Fidelity::kExact || options.jitter.kernels > 0;
}

namespace {

/// Kernels of a probe differ as they do; how fast its GPUs are is drawn for the whole step.
void vary_probe(ExecutionGraph& graph, const SimulateOptions& options) {
    vary(graph, {0, options.jitter.kernels, Time()}, options.jitter_seed);
}

/// The graph whose ranks are as slow as the slowest that they stand for.
ExecutionGraph varied_graph(
    const FoldedGraph& folded, const FoldedGraph::Measured& measured,
    const SimulateOptions& options) {
    ExecutionGraph graph = folded.graph(measured);
    const auto simulated = std::ranges::count_if(
        graph.ranks, [](const auto& rank) { return !rank->operations.empty(); });
    // Kernels that stand for passes have their jitter from the probe.
    const bool by_passes = !folded.whole().pieces.empty();
    vary(
        graph, {options.jitter.gpus, by_passes ? 0 : options.jitter.kernels, options.jitter.starts},
        options.jitter_seed,
        static_cast<std::uint32_t>(
            graph.ranks.size() / std::max<std::size_t>(1, static_cast<std::size_t>(simulated))));
    return graph;
}

}  // namespace

ExecutionGraph measured_graph(
    const FoldedGraph& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options) {
    const FoldedProbes probes(folded, system, policies, whole_passes(options));
    std::vector<Outcome> outcomes;
    for (const FoldedProbes::Run& run : probes.runs()) {
        ExecutionGraph graph = run.graph;
        vary_probe(graph, options);
        outcomes.push_back(probes.told(run, simulate(system, graph, run.policies, options)));
    }
    return varied_graph(folded, probes.measured(outcomes), options);
}

ExecutionGraph measured_graph_apart(
    const FoldedGraph& folded, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options, const RunJobs& run) {
    const FoldedProbes probes(folded, system, policies, whole_passes(options));
    std::vector<Job> jobs;
    for (const FoldedProbes::Run& probe : probes.runs())
        jobs.push_back({probe.label, [&](const JobProgress& progress) {
                            SimulateOptions told = options;
                            told.progress = progress;
                            ExecutionGraph graph = probe.graph;
                            vary_probe(graph, options);
                            return encode(
                                probes.told(probe, simulate(system, graph, probe.policies, told)));
                        }});
    std::vector<Outcome> outcomes(jobs.size());
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        outcomes[job] = decode(result.bytes);
    });
    return varied_graph(folded, probes.measured(outcomes), options);
}

}  // namespace switchfold

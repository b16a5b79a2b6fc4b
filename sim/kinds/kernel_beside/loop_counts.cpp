// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/kernel_beside/loop_counts.h"

#include "sim/kinds/kernel_beside/kernel_beside_params.h"
#include "sim/pool/outcome_codec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

constexpr double kMostLooped = KernelBesideCollectiveParams::kMostRuns;

Outcome simulate_apart(
    const ExecutionGraph& graph, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options, const RunJobs& run) {
    const std::vector<Job> jobs{{"counts of the loops", [&](const JobProgress& progress) {
                                     SimulateOptions told = options;
                                     told.progress = progress;
                                     return encode(simulate(system, graph, policies, told));
                                 }}};
    Outcome outcome;
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        outcome = decode(result.bytes);
    });
    return outcome;
}

std::uint32_t whole_runs(double wanted) {
    return static_cast<std::uint32_t>(std::clamp(std::round(wanted), 1.0, kMostLooped));
}

/// Ends of the first rank's kernels, or of its collectives, ps.
std::vector<double>
ends_on_first_rank(const ExecutionGraph& graph, const Outcome& outcome, bool kernels) {
    std::vector<double> ends;
    const RankGraph& rank = *graph.ranks.front();
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (std::holds_alternative<KernelOperation>(rank.operations[i].body) == kernels)
            ends.push_back(static_cast<double>(outcome.times.front()[i].end.count()));
    return ends;
}

/// Time of one repetition until `window`; all of it if none has ended.
double time_of_one(const std::vector<double>& ends, double window) {
    const auto ended = std::upper_bound(ends.begin(), ends.end(), window) - ends.begin();
    return ended == 0 ? window : ends[static_cast<std::size_t>(ended) - 1] / double(ended);
}

}  // namespace

Loops with_counts(
    const Loops& loops, const SystemParams& system, const CollectivePolicies& policies,
    const SimulateOptions& options, const RunJobs& run) {
    if (loops.kernels > 0 && loops.collectives > 0)
        return loops;
    const auto simulated = [&](const ExecutionGraph& graph) {
        return simulate_apart(graph, system, policies, options, run);
    };
    Loops pilot = loops;
    pilot.kernels = 0;
    pilot.collectives = 1;
    const auto collective =
        std::max(1.0, static_cast<double>(simulated(loops_graph(pilot)).end_ps));
    double kernel = 1;
    for (const KernelOperation& one : loops.kernel)
        kernel = std::max(kernel, static_cast<double>(one.isolated.count()));
    // Enough of each that some begin and end beside the other.
    constexpr double kSome = 3;
    pilot.kernels = whole_runs(std::ceil(kSome * std::max(1.0, collective / kernel)));
    pilot.collectives = whole_runs(std::ceil(kSome * std::max(1.0, kernel / collective)));
    const ExecutionGraph graph = loops_graph(pilot);
    const Outcome outcome = simulated(graph);
    const std::vector<double> kernels = ends_on_first_rank(graph, outcome, true);
    const std::vector<double> collectives = ends_on_first_rank(graph, outcome, false);
    const double window = std::min(kernels.back(), collectives.back());
    const double of_kernel = time_of_one(kernels, window);
    const double of_collective = time_of_one(collectives, window);

    Loops found = loops;
    if (loops.kernels > 0) {
        found.collectives = whole_runs(loops.kernels * of_kernel / of_collective);
    } else if (loops.collectives > 0) {
        found.kernels = whole_runs(loops.collectives * of_collective / of_kernel);
    } else {
        constexpr double kOften = 10;
        const double longer = std::max(of_kernel, of_collective);
        const double shorter = std::min(of_kernel, of_collective);
        const double times =
            whole_runs(std::min(kOften, std::floor(kMostLooped * shorter / longer)));
        found.kernels = whole_runs(times * longer / of_kernel);
        found.collectives = whole_runs(times * longer / of_collective);
    }
    return found;
}

}  // namespace switchfold

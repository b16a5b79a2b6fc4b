// SPDX-License-Identifier: Apache-2.0
#include "sim/results/training.h"

#include "sim/results/summary.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr double kMicrosecond = 1e-6;  // per picosecond

/// End of a round: end of its last pass on any rank.
std::uint64_t
end_of_round(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t round) {
    std::uint64_t end = 0;
    for (std::size_t r = 0; r < graph.ranks.size(); ++r)
        for (const Span& span : graph.ranks[r]->spans)
            if (span.round == round)
                end = std::max(end, outcome.times[r][span.last].end.count());
    return end;
}

/// Window from the end of the warm-up to the last round before the drain.
struct Steady {
    Interval time;
    std::uint32_t rounds = 1;
};
std::optional<Steady> steady_of(const ExecutionGraph& graph, const Outcome& outcome) {
    const TrainingFacts& facts = graph.training;
    if (facts.rounds <= 2 * facts.warm_up + 1)
        return {};
    const std::uint32_t from = facts.warm_up;
    const std::uint32_t until = facts.rounds - 1 - facts.warm_up;
    if (until <= from)
        return {};
    return Steady{
        {end_of_round(graph, outcome, from), end_of_round(graph, outcome, until)}, until - from};
}

/// Length and busy time of a rank's passes within a window or, without one, from its first pass to
/// its last. Excludes updates, which end a step.
struct Use {
    double window = 0;
    double busy = 0;
};
Use use_of(
    const RankGraph& rank, const std::vector<OperationTimes>& times,
    const std::optional<Steady>& steady) {
    std::vector<Interval> passes;
    Interval window{UINT64_MAX, 0};
    for (const Span& span : rank.spans) {
        if (span.phase == Phase::kOptimizer && !steady)
            continue;
        passes.push_back({times[span.first].start.count(), times[span.last].end.count()});
        window.start = std::min(window.start, passes.back().start);
        window.end = std::max(window.end, passes.back().end);
    }
    if (steady)
        window = steady->time;
    if (passes.empty() || window.end <= window.start)
        return {};
    merge_intervals(passes);
    return {
        static_cast<double>(window.end - window.start),
        static_cast<double>(covered(passes, window.start, window.end))};
}

}  // namespace

double round_us(const ExecutionGraph& graph, const Outcome& outcome) {
    if (graph.training.rounds > 1)
        if (const auto steady = steady_of(graph, outcome))
            return static_cast<double>(steady->time.end - steady->time.start) * kMicrosecond /
                   steady->rounds;
    return static_cast<double>(outcome.end_ps) * kMicrosecond / graph.steps;
}

std::optional<TrainingPace> training_pace(const ExecutionGraph& graph, const Outcome& outcome) {
    const TrainingFacts& facts = graph.training;
    const double seconds = round_us(graph, outcome) * 1e-6;
    if (facts.samples <= 0 || seconds <= 0)
        return {};
    TrainingPace pace;
    pace.samples_per_s = facts.samples / seconds;
    pace.tflops_per_gpu = facts.flops / seconds / static_cast<double>(graph.ranks.size()) * 1e-12;
    // Relative to the device that is active longest; at a steady pace all are equal.
    const std::optional<Steady> steady =
        facts.rounds > 1 ? steady_of(graph, outcome) : std::nullopt;
    const RankWeights weights(graph);
    double longest = 0;
    double busy = 0;
    for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
        const Use use = use_of(*graph.ranks[r], outcome.times[r], steady);
        longest = std::max(longest, use.window);
        busy += weights.of(r) * use.busy;
    }
    if (longest > 0)
        pace.bubble_share = 1 - busy / weights.total() / longest;
    return pace;
}

}  // namespace switchfold

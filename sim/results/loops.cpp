// SPDX-License-Identifier: Apache-2.0
#include "sim/results/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

/// Ends of one rank's kernels, or of its collectives, us from the loops' start.
std::vector<double> loop_ends(
    const RankGraph& rank, const std::vector<OperationTimes>& times, std::uint64_t from,
    bool kernels) {
    std::vector<double> ends;
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        if (std::holds_alternative<KernelOperation>(rank.operations[i].body) == kernels)
            ends.push_back(static_cast<double>(times[i].end.count() - from) * 1e-6);
    return ends;
}

/// Notes that `own` goes on after `other`, if for more than a hundredth of its time.
void tell_rest(
    std::string_view what, const std::vector<double>& own, const std::vector<double>& other,
    double alone, std::vector<std::string>& notes) {
    constexpr double kLittle = 0.01;
    constexpr double kPercent = 100;
    const double rest = 1 - other.back() / own.back();
    if (rest <= kLittle)
        return;
    const auto beside = std::upper_bound(own.begin(), own.end(), other.back()) - own.begin();
    std::string note = fmt::format(
        "the {}s go on for {:.0f} % of their time after the others have ended", what,
        rest * kPercent);
    if (beside > 0 && alone > 0) {
        const double one = own[static_cast<std::size_t>(beside) - 1] / static_cast<double>(beside);
        note += fmt::format(
            "; until then, a {} takes {:.1f} us, {:.2f} times as long as alone", what, one,
            one / alone);
    }
    notes.push_back(std::move(note));
}

}  // namespace

void tell_loops(
    const RunTimes& times, const ExecutionGraph& graph, const Outcome& outcome,
    ScenarioResult& out) {
    tell_slowdown(times, kSlowedKernel, out);
    const auto busy = std::find_if(graph.ranks.begin(), graph.ranks.end(), [](const auto& rank) {
        return !rank->operations.empty();
    });
    const auto& own = outcome.times[static_cast<std::size_t>(busy - graph.ranks.begin())];
    const std::uint64_t from = own.front().start.count();
    const std::vector<double> kernels = loop_ends(**busy, own, from, true);
    const std::vector<double> collectives = loop_ends(**busy, own, from, false);
    const auto ran = static_cast<double>(kernels.size());
    const auto moved = static_cast<double>(collectives.size());
    out.loop_kernels = ran;
    out.loop_collectives = moved;
    out.kernel_alone_us = times.alone.other / ran;
    out.kernel_beside_us = times.now.other / ran;
    out.collective_alone_us = times.alone.collectives / moved;
    out.collective_beside_us = times.now.collectives / moved;
    if (times.alone.collectives > 0)
        out.collective_slowdown = times.now.collectives / times.alone.collectives - 1.0;
    if (times.now.iteration > 0)
        out.speedup = times.alone.iteration / times.now.iteration;
    if (!times.overlap)
        return;
    tell_rest("kernel", kernels, collectives, *out.kernel_alone_us, out.notes);
    tell_rest("collective", collectives, kernels, *out.collective_alone_us, out.notes);
}

}  // namespace switchfold

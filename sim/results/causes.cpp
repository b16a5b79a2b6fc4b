// SPDX-License-Identifier: Apache-2.0
#include "sim/results/causes.h"

#include "core/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <source_location>

namespace switchfold {

namespace {

/// Calls visit(operation, kernel, isolated_us, taken_us) for every kernel of the first `steps`
/// steps, with times by their ranks' weights.
template <class Visit>
void for_each(
    const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps, Visit visit) {
    const RankWeights weights(graph);
    for (std::size_t r = 0; r < graph.ranks.size(); ++r)
        for (std::size_t i = 0; i < graph.ranks[r]->operations.size(); ++i) {
            const Operation& operation = graph.ranks[r]->operations[i];
            const auto* kernel = std::get_if<KernelOperation>(&operation.body);
            if (kernel == nullptr || operation.step >= steps)
                continue;
            const OperationTimes& t = outcome.times[r][i];
            const double weight = weights.of(r);
            visit(
                operation, *kernel, weight * to_microseconds(kernel->isolated),
                weight * to_microseconds(t.end - t.start));
        }
}

}  // namespace

MechanismSet mechanism_of(bool Contention::*on) {
    for (std::size_t i = 0; i < kMechanismCount; ++i)
        if (kMechanisms[i].on == on)
            return 1U << i;
    throw InternalError("contention", "is not a mechanism", std::source_location::current());
}

std::set<MechanismSet> cause_runs(MechanismSet there) {
    const MechanismSet none = kAllMechanisms & ~there;
    std::set<MechanismSet> runs{kAllMechanisms, none};
    for (std::size_t i = 0; i < kMechanismCount; ++i)
        if (const MechanismSet one = there & 1U << i; one != 0)
            runs.insert({none | one, kAllMechanisms & ~one});
    return runs;
}

SlowdownByCause find_causes(
    double whole, MechanismSet there, const std::function<double(MechanismSet on)>& slowdown) {
    const MechanismSet off = kAllMechanisms & ~there;
    const double all = slowdown(kAllMechanisms);
    const double none = slowdown(off);
    std::array<double, kMechanismCount> share{};
    std::array<double, kMechanismCount> meeting{};
    double left = all - none;
    double met = 0;
    for (std::size_t i = 0; i < kMechanismCount; ++i)
        if (const MechanismSet one = there & 1U << i; one != 0) {
            const double first = slowdown(off | one) - none;
            const double last = all - slowdown(kAllMechanisms & ~one);
            share.at(i) = (first + last) / 2;
            meeting.at(i) = std::abs(first - last);
            left -= share.at(i);
            met += meeting.at(i);
        }
    const double scale = all > 0 ? whole / all : 1.0;
    const double equal = there != 0 ? 1.0 / std::popcount(there) : 0.0;
    SlowdownByCause causes;
    causes.other = whole;
    for (std::size_t i = 0; i < kMechanismCount; ++i)
        if ((there & 1U << i) != 0) {
            const double part = met > 0 ? meeting.at(i) / met : equal;
            causes.*kMechanisms[i].share = (share.at(i) + left * part) * scale;
            causes.other -= causes.*kMechanisms[i].share;
        }
    return causes;
}

std::map<std::string, ClassTime>
class_times(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps) {
    std::map<std::string, ClassTime> times;
    for_each(
        graph, outcome, steps,
        [&](const Operation& operation, const KernelOperation& kernel, double isolated_us,
            double taken_us) {
            if (operation.phase != Phase::kBackward)
                return;
            ClassTime& time = times[std::string(to_string(kernel.kernel_class))];
            ++time.kernels;
            time.isolated_us += isolated_us;
            time.taken_us += taken_us;
        });
    return times;
}

std::vector<KernelClassResult> kernel_classes(
    const ExecutionGraph& graph, const Outcome& outcome, MechanismSet there,
    const std::map<MechanismSet, std::map<std::string, ClassTime>>& first) {
    std::vector<KernelClassResult> results;
    const double share = 1.0 / RankWeights(graph).total() / graph.steps;
    for (const auto& [name, all] : class_times(graph, outcome, graph.steps)) {
        KernelClassResult result;
        result.kernel_class = name;
        result.kernels = all.kernels;
        result.isolated_us = all.isolated_us * share;
        result.slowdown = all.isolated_us > 0 ? all.taken_us / all.isolated_us - 1.0 : 0.0;
        if (!first.empty() && first.at(kAllMechanisms).contains(name))
            result.causes = find_causes(result.slowdown, there, [&](MechanismSet on) {
                const ClassTime& t = first.at(on).at(result.kernel_class);
                return t.taken_us / t.isolated_us - 1.0;
            });
        results.push_back(std::move(result));
    }
    return results;
}

std::vector<WorstKernelResult>
worst_kernels(const ExecutionGraph& graph, const Outcome& outcome, std::size_t count) {
    std::map<std::uint32_t, WorstKernelResult> names;
    const double share = 1.0 / RankWeights(graph).total() / graph.steps;
    for_each(
        graph, outcome, graph.steps,
        [&](const Operation& operation, const KernelOperation& kernel, double isolated_us,
            double taken_us) {
            WorstKernelResult& result = names[operation.name];
            ++result.kernels;
            result.kernel_class = to_string(kernel.kernel_class);
            result.isolated_us += isolated_us * share;
            result.lost_us += (taken_us - isolated_us) * share;
        });
    std::vector<WorstKernelResult> worst;
    constexpr double kNothing = 1e-3;
    for (auto& [name, result] : names) {
        if (result.lost_us < kNothing)
            continue;
        result.name = graph.names[name];
        worst.push_back(std::move(result));
    }
    std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
        return a.lost_us > b.lost_us;
    });
    worst.resize(std::min(worst.size(), count));
    return worst;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/causes.h"

#include <algorithm>

namespace switchfold {

namespace {

/// Calls visit(operation, kernel, taken_us) for every kernel of the first `steps` steps.
template <class Visit>
void for_each(
    const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps, Visit visit) {
    for (std::size_t r = 0; r < graph.ranks.size(); ++r)
        for (std::size_t i = 0; i < graph.ranks[r]->operations.size(); ++i) {
            const Operation& operation = graph.ranks[r]->operations[i];
            const auto* kernel = std::get_if<KernelOperation>(&operation.body);
            if (kernel == nullptr || operation.step >= steps)
                continue;
            const OperationTimes& t = outcome.times[r][i];
            visit(operation, *kernel, to_microseconds(t.end - t.start));
        }
}

}  // namespace

SlowdownByCause
find_causes(double whole, const std::function<double(std::size_t without)>& slowdown) {
    SlowdownByCause causes;
    const double with_all = slowdown(kMechanismCount);
    const double scale = with_all > 0 ? whole / with_all : 1.0;
    causes.other = whole;
    for (std::size_t i = 0; i < kMechanismCount; ++i) {
        double& share = causes.*kMechanisms[i].share;
        share = (with_all - slowdown(i)) * scale;
        causes.other -= share;
    }
    return causes;
}

std::map<std::string, ClassTime>
class_times(const ExecutionGraph& graph, const Outcome& outcome, std::uint32_t steps) {
    std::map<std::string, ClassTime> times;
    for_each(
        graph,
        outcome,
        steps,
        [&](const Operation& operation, const KernelOperation& kernel, double taken_us) {
            if (operation.phase != Phase::kBackward)
                return;
            ClassTime& time = times[std::string(to_string(kernel.kernel_class))];
            ++time.kernels;
            time.isolated_us += to_microseconds(kernel.isolated);
            time.taken_us += taken_us;
        });
    return times;
}

std::vector<WorstKernelResult>
worst_kernels(const ExecutionGraph& graph, const Outcome& outcome, std::size_t count) {
    std::map<std::uint32_t, WorstKernelResult> names;
    const double share = 1.0 / static_cast<double>(ranks_at_work(graph)) / graph.steps;
    for_each(
        graph,
        outcome,
        graph.steps,
        [&](const Operation& operation, const KernelOperation& kernel, double taken_us) {
            WorstKernelResult& result = names[operation.name];
            ++result.kernels;
            result.kernel_class = to_string(kernel.kernel_class);
            result.isolated_us += to_microseconds(kernel.isolated) * share;
            result.lost_us += (taken_us - to_microseconds(kernel.isolated)) * share;
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

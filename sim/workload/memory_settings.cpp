// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/memory_settings.h"

#include "core/gibibytes.h"
#include "training/plan/step/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace switchfold {

namespace {

struct Setting {
    std::string_view words;
    void (*set)(ParallelPlan& plan);
};

/// In the order of what they cost.
constexpr std::array kSettings{
    Setting{"sharding optimizer", [](ParallelPlan& plan) { plan.sharding = Sharding::kOptimizer; }},
    Setting{"sharding gradients", [](ParallelPlan& plan) { plan.sharding = Sharding::kGradients; }},
    Setting{"gradient bfloat16", [](ParallelPlan& plan) { plan.gradient = Datatype::kBfloat16; }},
    Setting{"masters remainder", [](ParallelPlan& p) { p.masters = MasterWeights::kRemainder; }},
    Setting{"norm_keeps output", [](ParallelPlan& p) { p.norm_keeps = NormKeeps::kOutput; }},
    Setting{
        "recompute selective", [](ParallelPlan& plan) { plan.recompute = Recompute::kSelective; }},
    Setting{"sequence true", [](ParallelPlan& plan) { plan.sequence = true; }},
    Setting{"recompute full", [](ParallelPlan& plan) { plan.recompute = Recompute::kFull; }}};

/// Whether a setting would take back what the plan has.
bool loses(const ParallelPlan& before, const ParallelPlan& after) {
    return after.sharding < before.sharding || after.recompute < before.recompute;
}

}  // namespace

double most_of(const std::vector<MemoryBytes>& devices) {
    double most = 0;
    for (const MemoryBytes& device : devices)
        most = std::max(most, device.all());
    return most;
}

std::vector<MemoryBytes> least_memory(const PlannedStep& step) {
    ParallelPlan plan = step.plan();
    if (plan.norm_keeps != NormKeeps::kEither)
        return plan_memory(step);
    plan.norm_keeps = NormKeeps::kOutput;
    return plan_memory(PlannedStep(step.network(), KernelTimes(step.times()), std::move(plan)));
}

std::string settings_that_fit(const PlannedStep& step, double capacity) {
    std::vector<std::string> found;
    const double now = most_of(least_memory(step));
    for (const Setting& setting : kSettings) {
        ParallelPlan plan = step.plan();
        setting.set(plan);
        if (loses(step.plan(), plan) || !problems_of(plan, step.network()).empty())
            continue;
        const double needs = most_of(least_memory(
            PlannedStep(step.network(), KernelTimes(step.times()), std::move(plan))));
        if (needs <= capacity && needs < now)
            found.push_back(fmt::format("{} ({:.1f} GiB)", setting.words, in_gibibytes(needs)));
    }
    return fmt::format("{}", fmt::join(found, ", "));
}

}  // namespace switchfold

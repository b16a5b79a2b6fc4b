// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/memory_settings.h"

#include "core/gibibytes.h"
#include "sim/workload/memory_check.h"
#include "training/plan/step/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

struct Setting {
    std::string_view words;
    void (*set)(ParallelPlan& plan);
};

/// In the order of what they cost.
constexpr std::array kSettings{
    Setting{"sharding optimizer", [](ParallelPlan& p) { p.sharding = Sharding::kOptimizer; }},
    Setting{"sharding gradients", [](ParallelPlan& p) { p.sharding = Sharding::kGradients; }},
    Setting{"gradient bfloat16", [](ParallelPlan& p) { p.gradient = Datatype::kBfloat16; }},
    Setting{"masters remainder", [](ParallelPlan& p) { p.masters = MasterWeights::kRemainder; }},
    Setting{"norm_keeps output", [](ParallelPlan& p) { p.norm_keeps = NormKeeps::kOutput; }},
    Setting{"recompute selective", [](ParallelPlan& p) { p.recompute = Recompute::kSelective; }},
    Setting{"sequence true", [](ParallelPlan& p) { p.sequence = true; }},
    Setting{"recompute full", [](ParallelPlan& p) { p.recompute = Recompute::kFull; }}};

/// Whether a setting would take back what the plan has.
bool loses(const ParallelPlan& before, const ParallelPlan& after) {
    return after.sharding < before.sharding || after.recompute < before.recompute;
}

double most_of(const std::vector<MemoryBytes>& devices) {
    double most = 0;
    for (const MemoryBytes& device : devices)
        most = std::max(most, device.all());
    return most;
}

/// By device, the least that the plan may need.
std::vector<MemoryBytes> least_memory(const TrainingStep& step) {
    ParallelPlan plan = step.plan();
    if (plan.norm_keeps != NormKeeps::kEither)
        return plan_memory(step);
    plan.norm_keeps = NormKeeps::kOutput;
    return plan_memory(TrainingStep(step.network(), KernelTimes(step.times()), std::move(plan)));
}

/// "sharding gradients (69.8 GiB)": settings with which the least that the plan may need would fit.
std::string settings_that_fit(const TrainingStep& step, double capacity) {
    std::vector<std::string> found;
    const double now = most_of(least_memory(step));
    for (const Setting& setting : kSettings) {
        ParallelPlan plan = step.plan();
        setting.set(plan);
        if (loses(step.plan(), plan) || !problems_of(plan, step.network()).empty())
            continue;
        const double needs = most_of(
            least_memory(TrainingStep(step.network(), KernelTimes(step.times()), std::move(plan))));
        if (needs <= capacity && needs < now)
            found.push_back(fmt::format("{} ({:.1f} GiB)", setting.words, in_gibibytes(needs)));
    }
    return fmt::format("{}", fmt::join(found, ", "));
}

}  // namespace

std::string need_memory(
    const GpuParams& gpu, const TrainingStep& step, MemoryCheck check, PlanProblems& problems) {
    const auto capacity = static_cast<double>(gpu.memory.for_plans().count());
    const std::vector<MemoryBytes> devices = plan_memory(step);
    const bool fits = capacity == 0 || most_of(devices) <= capacity;
    const std::vector<MemoryBytes> least = fits ? devices : least_memory(step);
    if (!fits && most_of(least) <= capacity)
        return fmt::format(
            "the plan needs up to {}; {} has {:.0f} GiB, where it fits only if norms keep their "
            "outputs ({:.1f} GiB), which norm_keeps does not say",
            told_need(devices), gpu.name, in_gibibytes(capacity), in_gibibytes(most_of(least)));
    PlanProblems refused;
    std::string needs =
        "the plan needs up to " + check_memory(gpu, step.plan(), least, check, refused);
    for (auto& [pointer, what] : refused) {
        if (const std::string fitting = settings_that_fit(step, capacity); !fitting.empty())
            what += "; it fits with one of " + fitting;
        problems.emplace_back(pointer, std::move(what));
    }
    return needs;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placed_step.h"

#include "training/placement/exact_placement.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace switchfold {

namespace {

ParallelPlan on_devices(ParallelPlan plan, const PlacementChoice& choice) {
    plan.pipeline = choice.gpus_used();
    return plan;
}

}  // namespace

PlacedStep::PlacedStep(
    Network network, KernelTimes times, ParallelPlan plan, const PlacementChoice& choice,
    const PlacementMachine& machine) :
    network_(std::move(network)),
    times_(std::move(times)),
    plan_(on_devices(std::move(plan), choice)),
    choice_(choice),
    work_(network_, times_, plan_, choice_),
    graph_(placement_graph(
        network_, work_, times_, plan_, choice_, machine.bandwidth,
        choice_.gpus_used() == choice_.parts ? machine.memory : 0)) {}

std::uint32_t PlacedStep::add_kind(KernelTimes times) {
    others_.push_back(std::make_unique<OtherGpu>(network_, std::move(times), plan_, choice_));
    return static_cast<std::uint32_t>(others_.size());
}

std::unique_ptr<PlacedStep> PlacedStep::make(
    Network network, KernelTimes times, ParallelPlan plan, const PlacementChoice& choice,
    const PlacementMachine& machine, PlanProblems& problems) {
    std::unique_ptr<PlacedStep> cut(
        new PlacedStep(std::move(network), std::move(times), std::move(plan), choice, machine));
    std::optional<FoundPlacement> found;
    if (!choice.layers.empty()) {
        found = judged_placement(cut->graph_, parts_named(choice, cut->network_));
    } else {
        if (choice.method == PlacementMethod::kExact)
            if (const std::string why = why_no_exact_placement(cut->graph_); !why.empty()) {
                problems.emplace_back(
                    "/placement/method",
                    fmt::format(
                        "is exact, and {} {}; expected best or list", cut->network_.name, why));
                return {};
            }
        found = find_placement(cut->graph_, choice.method);
    }
    if (!found) {
        problems.emplace_back(
            "/placement/parts",
            fmt::format(
                "are {}, and no division of {} into so many fits the GPUs' memory; expected more "
                "parts, or a smaller micro_batch",
                choice.parts, cut->network_.name));
        return {};
    }
    cut->found_ = std::move(*found);
    cut->tasks_ = std::make_unique<PlacementTasks>(cut->graph_);
    cut->schedule_ = schedule_tasks(cut->graph_, *cut->tasks_, cut->found_.parts);
    return cut;
}

}  // namespace switchfold

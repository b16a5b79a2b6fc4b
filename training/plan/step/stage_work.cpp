// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/stage_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace switchfold {

StageWork::StageWork(
    const Network& network, const KernelTimes& times, const ParallelPlan& plan,
    std::vector<std::uint32_t> first) :
    network_(network),
    plan_(plan),
    layers_(network, times, plan),
    first_(std::move(first)),
    crossing_(crossing_elements(network)),
    work_(first_.size()) {
    number_units();
    for (std::uint32_t stage = 0; stage < stages(); ++stage) {
        memory_.push_back(stage_memory(network, layers_, plan, this->first(stage), end(stage)));
        build(stage);
    }
}

StageWork
layer_by_layer(const Network& network, const KernelTimes& times, const ParallelPlan& plan) {
    std::vector<std::uint32_t> each(network.layers.size());
    std::iota(each.begin(), each.end(), 0U);
    return {network, times, plan, std::move(each)};
}

std::uint32_t StageWork::end(std::uint32_t stage) const {
    return stage + 1 < stages() ? first_[stage + 1]
                                : static_cast<std::uint32_t>(network_.layers.size());
}

std::uint32_t StageWork::stage_of(std::uint32_t layer) const {
    const auto next = std::upper_bound(first_.begin(), first_.end(), layer);
    return static_cast<std::uint32_t>(next - first_.begin()) - 1;
}

/// A unit is a block, or layers of a stage with at least so many bytes of weights. What is left of
/// a stage joins the unit before: its layers may have no weights.
void StageWork::number_units() {
    units_.resize(network_.layers.size());
    const auto least = static_cast<double>(plan_.unit.count());
    std::uint32_t unit = 0;
    for (std::uint32_t stage = 0; stage < stages(); ++stage, ++unit) {
        double bytes = 0;
        std::uint32_t begun = first(stage);
        const std::uint32_t first_unit = unit;
        for (std::uint32_t i = first(stage); i < end(stage); ++i) {
            const bool full = least > 0 ? bytes >= least
                                        : network_.layers[i].block != network_.layers[begun].block;
            if (full) {
                ++unit;
                begun = i;
                bytes = 0;
            }
            units_[i] = unit;
            bytes += layers_.gathered_bytes(i);
        }
        if (bytes < least && unit > first_unit) {
            --unit;
            std::fill(units_.begin() + begun, units_.begin() + end(stage), unit);
        }
    }
}

bool StageWork::closes_unit(std::uint32_t layer) const {
    for (std::uint32_t i = layer; i-- > 0 && units_[i] == units_[layer];)
        if (network_.layers[i].parameters > 0)
            return false;
    return true;
}

/// Gathers fully sharded weights, unit by unit.
void StageWork::gather(std::uint32_t stage, std::uint32_t layer, bool upwards, Work& work) const {
    if (plan_.sharding != Sharding::kParameters || plan_.data * plan_.context == 1)
        return;
    const auto same_unit = [&](std::uint32_t a, std::uint32_t b) { return units_[a] == units_[b]; };
    const bool begins = upwards ? layer + 1 == end(stage) || !same_unit(layer, layer + 1)
                                : layer == first(stage) || !same_unit(layer, layer - 1);
    if (!begins)
        return;
    GatherItem item;
    item.left = upwards && plan_.unit.count() > 0 && layer + 1 == end(stage);
    for (std::uint32_t i = layer; same_unit(i, layer); upwards ? --i : ++i) {
        Bytes& bytes = layers_.shared_by_experts(i) ? item.experts : item.bytes;
        bytes += Bytes(static_cast<std::uint64_t>(layers_.gathered_bytes(i)));
        if (i == (upwards ? first(stage) : end(stage) - 1))
            break;
    }
    if ((item.bytes + item.experts).count() > 0)
        work.push_back(item);
}

namespace {

/// Adds a change of memory unless it is zero.
void change(Work& work, MemoryClass what, double bytes, bool at_end) {
    if (std::llround(bytes) != 0)
        work.push_back(HoldItem{what, std::llround(bytes), at_end});
}

}  // namespace

void StageWork::build(std::uint32_t stage) {
    const auto of = [&](PassKind kind) -> Work& {
        return work_[stage][static_cast<std::size_t>(kind)];
    };
    const StageMemory& memory = memory_[stage];
    const double activations = memory.kept.until_input_gradient;
    const auto host_waits = [&](Work& work) {
        if (plan_.launch_times.wait_around_recomputed)
            work.push_back(HostWaitItem{});
    };
    auto unit = memory.again.begin();
    for (std::uint32_t i = first(stage); i < end(stage); ++i) {
        gather(stage, i, false, of(PassKind::kForward));
        // Where each layer is a stage for the sake of counting, the first one has the batch.
        if (i == first(stage) && (i == 0 || stages() < network_.layers.size())) {
            if (plan_.launch_times.wait_for_batch)
                of(PassKind::kForward).push_back(HostWaitItem{});
            of(PassKind::kForward).push_back(CallsItem{plan_.launch_times.batch});
        }
        if (i == first(stage))
            change(of(PassKind::kForward), MemoryClass::kActivations, activations, false);
        const bool checkpointed = unit != memory.again.end() && unit->first <= i;
        if (checkpointed && i == unit->first)
            host_waits(of(PassKind::kForward));
        of(PassKind::kForward).push_back(LayerItem{i});
        layers_.forward(i, of(PassKind::kForward));
        if (checkpointed && i + 1 == unit->end) {
            host_waits(of(PassKind::kForward));
            ++unit;
        }
    }
    double made = 0;  // recomputed bytes that the weight gradient reads
    auto again = memory.again.rbegin();
    for (std::uint32_t i = end(stage); i-- > first(stage);) {
        const bool recomputed = again != memory.again.rend() && again->first <= i;
        for (const PassKind kind : {PassKind::kBackward, PassKind::kInputGradient}) {
            gather(stage, i, true, of(kind));
            if (!recomputed || i + 1 != again->end)
                continue;
            host_waits(of(kind));
            change(of(kind), MemoryClass::kWorkspace, again->workspace, false);
            for (std::uint32_t j = again->first; j < again->end; ++j) {
                of(kind).push_back(LayerItem{j});
                layers_.forward(j, of(kind));
            }
        }
        const double loss = layers_.loss_workspace(i);
        for (const PassKind kind : {PassKind::kBackward, PassKind::kInputGradient})
            change(of(kind), MemoryClass::kWorkspace, loss, false);
        for (const PassKind kind :
             {PassKind::kBackward, PassKind::kInputGradient, PassKind::kWeightGradient})
            of(kind).push_back(LayerItem{i});
        layers_.backward(i, of(PassKind::kBackward));
        layers_.input_gradient(i, of(PassKind::kInputGradient));
        for (const PassKind kind : {PassKind::kBackward, PassKind::kInputGradient})
            change(of(kind), MemoryClass::kWorkspace, -loss, true);
        layers_.weight_gradient(i, of(PassKind::kWeightGradient));
        if (!recomputed || i != again->first)
            continue;
        for (const PassKind kind : {PassKind::kBackward, PassKind::kInputGradient}) {
            change(of(kind), MemoryClass::kWorkspace, -again->workspace, true);
            host_waits(of(kind));
        }
        made += std::round(again->for_weights);
        change(of(PassKind::kInputGradient), MemoryClass::kActivations, again->for_weights, true);
        ++again;
    }
    change(of(PassKind::kBackward), MemoryClass::kActivations, -activations, true);
    const double left = memory.kept.until_weight_gradient;
    change(
        of(PassKind::kInputGradient), MemoryClass::kActivations,
        std::round(left) - std::round(activations) - made, true);
    change(of(PassKind::kWeightGradient), MemoryClass::kActivations, -left, true);
}

double StageWork::seconds(PassKind kind, std::uint32_t stage) const {
    double sum = 0;
    for (const WorkItem& item : work(kind, stage))
        if (const auto* kernel = std::get_if<KernelItem>(&item))
            sum += to_seconds(kernel->kernel.isolated);
    return sum;
}

/// Backward takes twice the FLOPs of forward.
double StageWork::model_flops(std::uint32_t stage) const {
    double macs = 0;
    for (std::uint32_t i = first(stage); i < end(stage); ++i)
        macs += static_cast<double>(network_.layers[i].macs);
    return 3 * 2 * macs * plan_.micro_batch / plan_.tensor / plan_.context;
}

std::optional<std::uint32_t> StageWork::shared_layer(std::uint32_t stage) const {
    for (std::uint32_t i = first(stage); i < end(stage); ++i)
        if (const auto shared = network_.layers[i].shares; shared && *shared < first(stage))
            return shared;
    return {};
}

double StageWork::parameters(std::uint32_t stage) const {
    double sum = 0;
    for (std::uint32_t i = first(stage); i < end(stage); ++i)
        sum += layers_.parameters(i);
    if (const auto shared = shared_layer(stage))
        sum += layers_.parameters(*shared);
    return sum;
}

double StageWork::rounded_parameters(std::uint32_t stage, bool experts) const {
    double sum = 0;
    for (std::uint32_t i = first(stage); i < end(stage); ++i)
        if (layers_.shared_by_experts(i) == experts)
            sum += layers_.rounded_parameters(i);
    return sum;
}

double StageWork::expert_parameters(std::uint32_t stage) const {
    double sum = 0;
    for (std::uint32_t i = first(stage); i < end(stage); ++i)
        if (layers_.shared_by_experts(i))
            sum += layers_.parameters(i);
    return sum;
}

Bytes StageWork::message(std::uint32_t stage) const {
    const double elements = static_cast<double>(crossing_[end(stage) - 1]) * plan_.micro_batch /
                            plan_.context / (plan_.sequence ? plan_.tensor : 1);
    return Bytes(static_cast<std::uint64_t>(std::ceil(elements * element_bytes(plan_.datatype))));
}

}  // namespace switchfold

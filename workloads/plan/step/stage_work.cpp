// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/step/stage_work.h"

#include "workloads/plan/step/kept_tensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace switchfold {

StageWork::StageWork(
    const Network& network,
    const KernelTimes& times,
    const ParallelPlan& plan,
    std::vector<std::uint32_t> first) :
    network_(network),
    plan_(plan),
    layers_(network, times, plan),
    first_(std::move(first)),
    crossing_(crossing_elements(network)),
    work_(first_.size()) {
    for (std::uint32_t stage = 0; stage < stages(); ++stage) {
        build(stage);
        kept_.push_back(activations(stage));
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

/// Fully sharded weights come together block by block.
void StageWork::gather(std::uint32_t stage, std::uint32_t layer, bool upwards, Work& work) const {
    if (plan_.sharding != Sharding::kParameters || plan_.data * plan_.context == 1)
        return;
    const auto same_unit = [&](std::uint32_t a, std::uint32_t b) {
        return network_.layers[a].block == network_.layers[b].block;
    };
    const bool begins = upwards ? layer + 1 == end(stage) || !same_unit(layer, layer + 1)
                                : layer == first(stage) || !same_unit(layer, layer - 1);
    if (!begins)
        return;
    GatherItem item;
    for (std::uint32_t i = layer; same_unit(i, layer); upwards ? --i : ++i) {
        Bytes& bytes = layers_.shared_by_experts(i) ? item.experts : item.bytes;
        bytes += Bytes(
            static_cast<std::uint64_t>(layers_.parameters(i) * element_bytes(plan_.datatype)));
        if (i == (upwards ? first(stage) : end(stage) - 1))
            break;
    }
    if ((item.bytes + item.experts).count() > 0)
        work.push_back(item);
}

void StageWork::build(std::uint32_t stage) {
    const auto of = [&](PassKind kind) -> Work& {
        return work_[stage][static_cast<std::size_t>(kind)];
    };
    Work again;
    for (std::uint32_t i = first(stage); i < end(stage); ++i) {
        gather(stage, i, false, of(PassKind::kForward));
        layers_.forward(i, of(PassKind::kForward));
        const std::string& type = network_.layers[i].type;
        const bool loss = type.find("loss") != std::string::npos;
        const bool recomputed = (plan_.recompute == Recompute::kFull && !loss) ||
                                (plan_.recompute == Recompute::kSelective && type == "attention");
        if (recomputed)
            layers_.forward(i, again);
    }
    of(PassKind::kBackward) = again;
    of(PassKind::kInputGradient) = again;
    for (std::uint32_t i = end(stage); i-- > first(stage);) {
        gather(stage, i, true, of(PassKind::kBackward));
        gather(stage, i, true, of(PassKind::kInputGradient));
        layers_.backward(i, of(PassKind::kBackward));
        layers_.input_gradient(i, of(PassKind::kInputGradient));
        layers_.weight_gradient(i, of(PassKind::kWeightGradient));
    }
}

double StageWork::seconds(PassKind kind, std::uint32_t stage) const {
    double sum = 0;
    for (const WorkItem& item : work(kind, stage))
        if (const auto* kernel = std::get_if<KernelItem>(&item))
            sum += to_seconds(kernel->kernel.isolated);
    return sum;
}

/// Forward once, backward twice as much.
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

Kept StageWork::activations(std::uint32_t stage) const {
    // A tensor that several layers read is kept once.
    std::set<std::uint32_t> all;
    std::set<std::uint32_t> for_weights;
    std::map<std::uint32_t, std::uint32_t> block_inputs;  // by block: its first layer
    double masks = 0;
    for (std::uint32_t i = first(stage); i < end(stage); ++i) {
        const Layer& layer = network_.layers[i];
        const KeptTensors keeps = kept_tensors(layer);
        if (keeps.input)
            all.insert(layer.inputs.begin(), layer.inputs.end());
        if (keeps.output)
            all.insert(i);
        if (keeps.mask)
            masks += layers_.output_bytes(i) / element_bytes(plan_.datatype);
        if (layer.type == "attention")
            masks += layers_.kept_scores(i);
        if (layers_.is_product(i))
            for_weights.insert(layer.inputs.begin(), layer.inputs.end());
        block_inputs.try_emplace(layer.block, i);
    }
    const auto bytes = [&](const std::set<std::uint32_t>& tensors) {
        double sum = 0;
        for (const std::uint32_t tensor : tensors)
            sum += layers_.output_bytes(tensor);
        return sum;
    };
    if (plan_.recompute == Recompute::kFull) {
        std::set<std::uint32_t> inputs;
        for (const auto& [block, i] : block_inputs)
            inputs.insert(network_.layers[i].inputs.begin(), network_.layers[i].inputs.end());
        return {bytes(inputs), bytes(inputs)};
    }
    return {bytes(all) + masks, bytes(for_weights)};
}

}  // namespace switchfold

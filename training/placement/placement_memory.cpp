// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_memory.h"

#include "training/plan/step/kept_tensors.h"
#include "training/plan/step/recomputed_layers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace switchfold {

namespace {

/// One byte per element.
double mask_bytes(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan,
    std::uint32_t layer) {
    return kept_tensors(network.layers[layer]).mask
               ? layers.output_bytes(layer) / element_bytes(plan.datatype)
               : 0;
}

}  // namespace

MemoryBytes state_of(const LayerWork& layers, const ParallelPlan& plan, std::uint32_t layer) {
    const double parameters = layers.parameters(layer);
    const double replicas = static_cast<double>(plan.data) * plan.context /
                            (layers.shared_by_experts(layer) ? plan.expert : 1);
    const auto held = [&](Sharding least) {
        return plan.sharding < least ? parameters : parameters / replicas;
    };
    MemoryBytes memory;
    memory[MemoryClass::kWeights] = held(Sharding::kParameters) * element_bytes(plan.datatype);
    memory[MemoryClass::kGradients] = held(Sharding::kGradients) * element_bytes(plan.gradient);
    memory[MemoryClass::kMoments] = held(Sharding::kOptimizer) * optimizer_state_bytes(plan);
    if (replicas > 1 && plan.sharding < Sharding::kGradients && !plan.gradient_as_bucket_view)
        memory[MemoryClass::kBuckets] = memory[MemoryClass::kGradients];
    return memory;
}

std::vector<RepeatedLayers> repeated_layers(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan,
    const NodeParts& parts) {
    std::vector<RepeatedLayers> all;
    for (const LayerRange& range :
         recomputed_layers(network, plan, 0, static_cast<std::uint32_t>(network.layers.size()))) {
        std::map<std::uint32_t, RepeatedLayers> of_part;
        for (std::uint32_t i = range.first; i < range.end; ++i) {
            RepeatedLayers& own = of_part[parts[i]];
            own.layers.push_back(i);
            own.workspace += layers.output_bytes(i) + mask_bytes(network, layers, plan, i) +
                             layers.scores(i) + layers.copied_keys(i);
        }
        for (auto& [part, own] : of_part)
            all.push_back(std::move(own));
    }
    return all;
}

double kept_where_made(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan,
    std::uint32_t layer) {
    const double output =
        kept_tensors(network.layers[layer]).output ? layers.output_bytes(layer) : 0;
    return output + mask_bytes(network, layers, plan, layer) + layers.scores(layer) +
           layers.copied_keys(layer);
}

std::vector<double> kept_by_layer(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan,
    const NodeParts& parts) {
    std::vector<double> kept(network.layers.size(), 0);
    std::vector<std::size_t> unit(kept.size(), SIZE_MAX);  // that is repeated together
    const std::vector<RepeatedLayers> again = repeated_layers(network, layers, plan, parts);
    for (std::size_t i = 0; i < again.size(); ++i)
        for (const std::uint32_t layer : again[i].layers)
            unit[layer] = i;
    std::set<std::pair<std::uint32_t, std::uint32_t>> there;  // part and producer of the tensor
    for (std::uint32_t i = 0; i < kept.size(); ++i) {
        const auto keep = [&](std::uint32_t tensor) {
            if (there.emplace(parts[i], tensor).second)
                kept[i] += layers.output_bytes(tensor);
        };
        if (unit[i] != SIZE_MAX) {
            for (const std::uint32_t input : network.layers[i].inputs)
                if (unit[input] != unit[i])
                    keep(input);
            continue;
        }
        const KeptTensors keeps = kept_tensors(network.layers[i]);
        if (keeps.input)
            for (const std::uint32_t input : network.layers[i].inputs)
                keep(input);
        if (keeps.output)
            keep(i);
        kept[i] += mask_bytes(network, layers, plan, i) + layers.scores(i) + layers.copied_keys(i);
    }
    return kept;
}

std::vector<MemoryBytes> held_all_along(
    const PlacementGraph& graph, const LayerWork& layers, const ParallelPlan& plan,
    const NodeParts& parts) {
    std::vector<MemoryBytes> gpus(graph.gpus);
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
        const MemoryBytes state = state_of(layers, plan, i);
        for (const MemoryClassText& one : kMemoryClasses)
            gpus[graph.gpu_of(parts[i])][one.value] += state[one.value];
    }
    return gpus;
}

std::vector<MemoryBytes> placement_memory(
    const Network& network, const PlacementGraph& graph, const LayerWork& layers,
    const ParallelPlan& plan, const NodeParts& parts) {
    std::vector<MemoryBytes> gpus = held_all_along(graph, layers, plan, parts);
    const std::vector<double> kept = kept_by_layer(network, layers, plan, parts);
    for (std::uint32_t i = 0; i < parts.size(); ++i)
        gpus[graph.gpu_of(parts[i])][MemoryClass::kActivations] += kept[i] * graph.micro_batches;
    for (const RepeatedLayers& again : repeated_layers(network, layers, plan, parts)) {
        double& most = gpus[graph.gpu_of(parts[again.layers.front()])][MemoryClass::kWorkspace];
        most = std::max(most, again.workspace);
    }
    return gpus;
}

}  // namespace switchfold

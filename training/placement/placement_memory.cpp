// SPDX-License-Identifier: Apache-2.0
#include "training/placement/placement_memory.h"

#include "training/plan/step/kept_tensors.h"

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

double state_bytes(double parameters, const ParallelPlan& plan) {
    return parameters * (element_bytes(plan.datatype) + element_bytes(plan.gradient) +
                         optimizer_state_bytes(plan));
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
    std::set<std::pair<std::uint32_t, std::uint32_t>> there;  // part and producer of the tensor
    for (std::uint32_t i = 0; i < kept.size(); ++i) {
        const auto keep = [&](std::uint32_t tensor) {
            if (there.emplace(parts[i], tensor).second)
                kept[i] += layers.output_bytes(tensor);
        };
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
        MemoryBytes& memory = gpus[graph.gpu_of(parts[i])];
        const double parameters = layers.parameters(i);
        memory[MemoryClass::kWeights] += parameters * element_bytes(plan.datatype);
        memory[MemoryClass::kGradients] += parameters * element_bytes(plan.gradient);
        memory[MemoryClass::kMoments] += parameters * optimizer_state_bytes(plan);
    }
    if (plan.data > 1 && !plan.gradient_as_bucket_view)
        for (MemoryBytes& memory : gpus)
            memory[MemoryClass::kBuckets] = memory[MemoryClass::kGradients];
    return gpus;
}

std::vector<MemoryBytes> cut_memory(
    const Network& network, const PlacementGraph& graph, const LayerWork& layers,
    const ParallelPlan& plan, const NodeParts& parts) {
    std::vector<MemoryBytes> gpus = held_all_along(graph, layers, plan, parts);
    const std::vector<double> kept = kept_by_layer(network, layers, plan, parts);
    for (std::uint32_t i = 0; i < parts.size(); ++i)
        gpus[graph.gpu_of(parts[i])][MemoryClass::kActivations] += kept[i] * graph.micro_batches;
    return gpus;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/layer_items.h"

#include "training/network/product.h"
#include "training/plan/step/kept_tensors.h"

#include <algorithm>
#include <utility>

namespace switchfold {

LayerItemTable::LayerItemTable(const Network& network, const NetworkScheduleOptions& options) :
    network_(network), options_(options), layers_(network.layers.size()) {
    for (const Layer& layer : network_.layers)
        if (layer.shares)
            layers_[owner(*layer.shares)].shared = true;
    find_what_blocks_alone_read();
}

const LayerRange* LayerItemTable::block_of(std::uint32_t layer) const {
    const std::vector<LayerRange>& blocks = options_.again;
    const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const LayerRange& block) {
        return block.first <= layer && layer < block.end;
    });
    return found == blocks.end() ? nullptr : &*found;
}
void LayerItemTable::find_what_blocks_alone_read() {
    for (std::uint32_t i = 0; i < layers_.size(); ++i) {
        layers_[i].inside = block_of(i) != nullptr;
        layers_[i].last_reader = i;
        for (const std::uint32_t input : network_.layers[i].inputs) {
            layers_[input].last_reader = i;
            if (block_of(input) != block_of(i))
                layers_[input].inside = false;
        }
    }
}

std::uint32_t LayerItemTable::owner(std::uint32_t layer) const {
    while (const auto shared = network_.layers[layer].shares)
        layer = *shared;
    return layer;
}
std::uint32_t LayerItemTable::add(const std::string& name, MemoryClass kind, std::uint64_t bytes) {
    MemoryItem item{name, kind, bytes};
    item.persistent = kind == MemoryClass::kWeights || kind == MemoryClass::kMoments;
    schedule_.items.push_back(std::move(item));
    return static_cast<std::uint32_t>(schedule_.items.size() - 1);
}

void LayerItemTable::add_output(std::uint32_t i) {
    const Layer& layer = network_.layers[i];
    const std::uint64_t bytes = layer.out_elements * options_.batch * options_.element;
    layers_[i].output = add(layer.name, MemoryClass::kActivations, bytes);
    layers_[i].output_gradient = add("gradient of " + layer.name, MemoryClass::kWorkspace, bytes);
}

void LayerItemTable::add_activations(std::uint32_t i) {
    const Layer& layer = network_.layers[i];
    LayerItems& items = layers_[i];
    const std::uint64_t out = layer.out_elements * options_.batch;
    std::uint64_t produced = 0;
    for (const std::uint32_t input : layer.inputs)
        produced += network_.layers[input].out_elements;
    if (layer.in_elements > produced)
        items.input =
            add("input of " + layer.name, MemoryClass::kActivations,
                (layer.in_elements - produced) * options_.batch * options_.element);
    items.output = add(layer.name, MemoryClass::kActivations, out * options_.element);
    schedule_.items.back().scratch = items.inside;
    const bool again = block_of(i) != nullptr;
    std::uint32_t* const mask = again ? &items.mask_again : &items.mask;
    if (kept_tensors(layer).mask)
        *mask = add("mask of " + layer.name, MemoryClass::kActivations, out);
    if (again) {
        items.output_again =
            add("again " + layer.name, MemoryClass::kWorkspace, out * options_.element);
        schedule_.items.back().scratch = true;
        if (items.mask_again != kNoItem) {
            schedule_.items[items.mask_again].kind = MemoryClass::kWorkspace;
            schedule_.items[items.mask_again].scratch = true;
        }
    }
    if (options_.kept_of_score > 0)
        if (const auto shape = attention_of(layer)) {
            items.scores =
                add("scores of " + layer.name, MemoryClass::kActivations,
                    scores_of(*shape) * options_.kept_of_score * options_.batch);
            schedule_.items[items.scores].scratch = again;
        }
    items.output_gradient =
        add("gradient of " + layer.name, MemoryClass::kWorkspace, out * options_.element);
    schedule_.items.back().scratch = items.inside;
}

void LayerItemTable::add_weights(std::uint32_t i) {
    const Layer& layer = network_.layers[i];
    LayerItems& items = layers_[i];
    const std::uint32_t parts = options_.weights_divided ? options_.shards_of(i) : 1;
    if (options_.weights_travel)
        items.weights = add(
            "weights of " + layer.name, MemoryClass::kWeights, layer.parameters * options_.element);
    else
        schedule_.resident_bytes += (layer.parameters * options_.element + parts - 1) / parts;
    const std::uint64_t gradient = layer.parameters * options_.gradient;
    if (options_.update_in_backward && items.shared && !options_.gradients_apart) {
        schedule_.resident_bytes += gradient;
    } else if (!options_.gradients_apart) {
        items.gradient = add("weight gradient of " + layer.name, MemoryClass::kGradients, gradient);
        schedule_.items.back().scratch = options_.update_in_backward;
    }
    if (options_.moments > 0)
        items.moments =
            add("moments of " + layer.name, MemoryClass::kMoments,
                (layer.parameters * options_.moments + options_.shards_of(i) - 1) /
                    options_.shards_of(i));
}

}  // namespace switchfold

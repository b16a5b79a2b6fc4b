// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/rounded_layers.h"

#include "training/network/product.h"

#include <cstdint>
#include <map>

namespace switchfold {

namespace {

constexpr std::uint64_t kRoundedSides = 16;

std::vector<bool> routers_of(const Network& network) {
    std::vector<bool> routers(network.layers.size(), false);
    for (const Layer& layer : network.layers)
        if (layer.type == "topk")
            for (const std::uint32_t input : layer.inputs)
                routers[input] = true;
    return routers;
}

bool has_rounded_sides(const Layer& layer) {
    const auto shape = product_of(layer);
    return shape && shape->columns % kRoundedSides == 0 && shape->depth % kRoundedSides == 0;
}

}  // namespace

std::vector<RoundedLayer> rounded_layers(const Network& network, ProductRecipe recipe) {
    std::vector<RoundedLayer> all(network.layers.size());
    if (recipe == ProductRecipe::kNone)
        return all;
    const std::vector<bool> routers = routers_of(network);
    std::map<std::uint32_t, std::uint32_t> first;  // layer by the tensor that it reads first
    std::vector<bool> read_otherwise(network.layers.size(), false);
    for (std::uint32_t i = 0; i < network.layers.size(); ++i) {
        const Layer& layer = network.layers[i];
        all[i].product = layer.type == "linear" && layer.split != TensorSplit::kVocabulary &&
                         !routers[i] && layer.inputs.size() == 1 && has_rounded_sides(layer);
        if (all[i].product)
            all[i].input = first.try_emplace(layer.inputs.front(), i).first->second == i;
        else
            for (const std::uint32_t input : layer.inputs)
                read_otherwise[input] = true;
    }
    if (recipe == ProductRecipe::kDelayed)
        for (const auto& [tensor, reader] : first) {
            const std::string& type = network.layers[tensor].type;
            all[tensor].norm =
                (type == "rmsnorm" || type == "layernorm") && !read_otherwise[tensor];
        }
    return all;
}

}  // namespace switchfold

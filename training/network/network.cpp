// SPDX-License-Identifier: Apache-2.0
#include "training/network/network.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace switchfold {

std::vector<std::string> problems_of(const Network& network, std::size_t index) {
    const Layer& layer = network.layers[index];
    std::vector<std::string> problems;
    std::uint64_t given = 0;
    for (const std::uint32_t input : layer.inputs) {
        if (input >= index)
            problems.push_back(
                fmt::format("{} reads layer {}, which does not come before it", layer.name, input));
        else
            given += network.layers[input].out_elements;
    }
    if (given > layer.in_elements)
        problems.push_back(fmt::format(
            "{} reads {} elements, and its inputs have {}", layer.name, layer.in_elements, given));
    const auto elements = std::accumulate(
        layer.out_shape.begin(), layer.out_shape.end(), std::uint64_t{1}, std::multiplies<>());
    if (!layer.out_shape.empty() && elements != layer.out_elements)
        problems.push_back(fmt::format(
            "{} has {} elements, and its shape {}", layer.name, layer.out_elements, elements));
    if (layer.shares && *layer.shares >= index)
        problems.push_back(fmt::format(
            "{} shares weights of layer {}, which does not come before it", layer.name,
            *layer.shares));
    else if (layer.shares && network.layers[*layer.shares].parameters == 0)
        problems.push_back(fmt::format(
            "{} shares weights of {}, which has none", layer.name,
            network.layers[*layer.shares].name));
    if (layer.groups == 0)
        problems.push_back(fmt::format("{} has no group", layer.name));
    return problems;
}

void check(const Network& network) {
    SWITCHFOLD_CHECK(!network.layers.empty(), "{} has no layer", network.name);
    std::set<std::string> names;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const std::vector<std::string> problems = problems_of(network, i);
        SWITCHFOLD_CHECK(problems.empty(), "{}: {}", network.name, problems.front());
        SWITCHFOLD_CHECK(
            names.insert(network.layers[i].name).second, "{} has two layers {}", network.name,
            network.layers[i].name);
    }
}

std::uint64_t parameters(const Network& network) {
    std::uint64_t sum = 0;
    for (const Layer& layer : network.layers)
        sum += layer.parameters;
    return sum;
}

std::vector<std::uint32_t>
updated_layers(const Network& network, std::uint32_t first, std::uint32_t end) {
    std::vector<std::uint32_t> layers;
    std::optional<std::uint32_t> before;
    for (std::uint32_t i = first; i < end; ++i) {
        if (network.layers[i].parameters > 0)
            layers.push_back(i);
        if (const auto shared = network.layers[i].shares; shared && *shared < first && !before)
            before = shared;
    }
    if (before)
        layers.push_back(*before);
    return layers;
}

std::uint64_t forward_macs(const Network& network) {
    std::uint64_t sum = 0;
    for (const Layer& layer : network.layers)
        sum += layer.macs;
    return sum;
}

std::vector<std::uint64_t> crossing_elements(const Network& network) {
    const std::vector<Layer>& layers = network.layers;
    std::vector<std::size_t> last_reader(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        last_reader[i] = i;
        for (const std::uint32_t input : layers[i].inputs)
            last_reader[input] = i;
    }
    std::vector<std::uint64_t> ends(
        layers.size());  // by last reader: elements no longer needed after it
    std::vector<std::uint64_t> crossing(layers.size());
    std::uint64_t alive = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        alive -= ends[i];
        if (last_reader[i] > i) {
            alive += layers[i].out_elements;
            ends[last_reader[i]] += layers[i].out_elements;
        }
        crossing[i] = alive;
    }
    return crossing;
}

std::uint64_t crossing_elements(const Network& network, std::size_t last) {
    std::vector<bool> crosses(network.layers.size());
    for (std::size_t i = last + 1; i < network.layers.size(); ++i)
        for (const std::uint32_t input : network.layers[i].inputs)
            crosses[input] = input <= last;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < crosses.size(); ++i)
        sum += crosses[i] ? network.layers[i].out_elements : 0;
    return sum;
}

}  // namespace switchfold

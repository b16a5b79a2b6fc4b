// SPDX-License-Identifier: Apache-2.0
#include "training/memory/recompute/network_chain.h"

#include "training/network/product.h"
#include "training/plan/step/kept_tensors.h"

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

std::uint64_t bytes_of_scores(const Layer& layer, const NetworkChainOptions& options) {
    const auto shape = attention_of(layer);
    return shape ? scores_of(*shape) * options.kept_of_score * options.batch : 0;
}

class Chain {
public:
    Chain(
        const Network& network, const NetworkChainOptions& options,
        std::span<const LayerTimes> times) :
        network_(network),
        options_(options),
        times_(times),
        crossing_(crossing_elements(network)) {}

    std::vector<ChainUnit> take() {
        std::vector<ChainUnit> chain;
        const auto layers = static_cast<std::uint32_t>(network_.layers.size());
        for (std::uint32_t first = 0; first < layers;) {
            std::uint32_t end = first + 1;
            while (end < layers && network_.layers[first].block != kNoBlock &&
                   network_.layers[end].block == network_.layers[first].block)
                ++end;
            chain.push_back(unit(first, end));
            first = end;
        }
        return chain;
    }

private:
    [[nodiscard]] std::uint64_t bytes(std::uint64_t elements) const {
        return elements * options_.batch * options_.element;
    }

    [[nodiscard]] ChainUnit unit(std::uint32_t first, std::uint32_t end) const {
        ChainUnit unit;
        unit.name = network_.layers[first].name;
        unit.layers = {first, end};
        unit.input = first == 0 ? 0 : bytes(crossing_[first - 1]);
        std::set<std::uint32_t> kept;  // internal tensors that backward reads
        for (std::uint32_t i = first; i < end; ++i) {
            const Layer& layer = network_.layers[i];
            const KeptTensors keeps = kept_tensors(layer);
            if (keeps.input)
                kept.insert(layer.inputs.begin(), layer.inputs.end());
            if (keeps.output)
                kept.insert(i);
            if (keeps.mask)
                unit.inside += layer.out_elements * options_.batch;
            if (keeps.input)
                unit.inside += bytes(outside_elements(layer));
            const std::uint64_t scores = bytes_of_scores(layer, options_);
            unit.inside += scores;
            unit.selective += scores;
            if (scores > 0)
                unit.selective_layers.push_back({i, i + 1});
            unit.working = std::max(unit.working, bytes(layer.out_elements + layer.in_elements));
            if (!times_.empty()) {
                unit.forward += times_[i].forward;
                unit.selective_seconds += scores > 0 ? times_[i].forward : 0;
            }
        }
        for (const std::uint32_t tensor : kept)
            if (tensor >= first && (tensor + 1 < end || end == network_.layers.size()))
                unit.inside += bytes(network_.layers[tensor].out_elements);
        return unit;
    }

    /// Elements of the network's own inputs that the layer reads.
    [[nodiscard]] std::uint64_t outside_elements(const Layer& layer) const {
        std::uint64_t produced = 0;
        for (const std::uint32_t input : layer.inputs)
            produced += network_.layers[input].out_elements;
        return layer.in_elements > produced ? layer.in_elements - produced : 0;
    }

    const Network& network_;
    const NetworkChainOptions& options_;
    std::span<const LayerTimes> times_;
    std::vector<std::uint64_t> crossing_;
};

}  // namespace

std::vector<ChainUnit> network_chain(
    const Network& network, const NetworkChainOptions& options, std::span<const LayerTimes> times) {
    return Chain(network, options, times).take();
}

}  // namespace switchfold

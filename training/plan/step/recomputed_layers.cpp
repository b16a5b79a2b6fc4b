// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/recomputed_layers.h"

#include <algorithm>
#include <string>

namespace switchfold {

namespace {

/// Up to `every` ranges that follow each other become one.
std::vector<LayerRange> joined(const std::vector<LayerRange>& ranges, std::uint32_t every) {
    std::vector<LayerRange> segments;
    std::uint32_t units = 0;
    for (const LayerRange& range : ranges) {
        if (units > 0 && units < every && segments.back().end == range.first) {
            segments.back().end = range.end;
            ++units;
        } else {
            segments.push_back(range);
            units = 1;
        }
    }
    return segments;
}

/// Of the layers of blocks, those of the blocks that the plan chooses. Layers between blocks go
/// with all of them.
class ChosenBlocks {
public:
    ChosenBlocks(const Network& network, const ParallelPlan& plan, std::uint32_t first) :
        plan_(plan), first_block_(network.layers[first].block) {
        for (std::uint32_t i = first; first_block_ == kNoBlock && i < network.layers.size(); ++i)
            first_block_ = network.layers[i].block;
    }
    [[nodiscard]] bool operator()(const Layer& layer) const {
        const bool all = plan_.recompute_one_in == 1 && plan_.recompute_blocks == 0;
        if (all || layer.block == kNoBlock)
            return all;
        return plan_.recompute_blocks > 0 ? layer.block - first_block_ < plan_.recompute_blocks
                                          : (layer.block + 1) % plan_.recompute_one_in == 0;
    }

private:
    const ParallelPlan& plan_;
    std::uint32_t first_block_;
};

}  // namespace

std::vector<LayerRange> recomputed_layers(
    const Network& network, const ParallelPlan& plan, std::uint32_t first, std::uint32_t end) {
    const auto in_block = [](const Layer& layer) { return layer.block != kNoBlock; };
    const bool has_blocks = std::any_of(network.layers.begin(), network.layers.end(), in_block);
    const auto is_kept = [&](const Layer& layer) {
        return layer.type.find("loss") != std::string::npos || (has_blocks && !in_block(layer));
    };
    const ChosenBlocks chosen(network, plan, first);
    std::vector<LayerRange> ranges;
    for (std::uint32_t i = first; i < end; ++i) {
        const Layer& layer = network.layers[i];
        if (plan.recompute == Recompute::kSelective && layer.type == "attention")
            ranges.push_back({i, i + 1});
        if (plan.recompute != Recompute::kFull || is_kept(layer) || !chosen(layer))
            continue;
        const bool goes_on =
            !ranges.empty() && ranges.back().end == i && network.layers[i - 1].block == layer.block;
        if (goes_on)
            ranges.back().end = i + 1;
        else
            ranges.push_back({i, i + 1});
    }
    return plan.recompute == Recompute::kFull ? joined(ranges, plan.recompute_every) : ranges;
}

}  // namespace switchfold

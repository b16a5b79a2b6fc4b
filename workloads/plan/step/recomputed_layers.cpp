// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/step/recomputed_layers.h"

#include <algorithm>
#include <string>

namespace switchfold {

std::vector<LayerRange> recomputed_layers(
    const Network& network, Recompute recompute, std::uint32_t first, std::uint32_t end) {
    const auto in_block = [](const Layer& layer) { return layer.block != kNoBlock; };
    const bool has_blocks = std::any_of(network.layers.begin(), network.layers.end(), in_block);
    const auto is_kept = [&](const Layer& layer) {
        return layer.type.find("loss") != std::string::npos || (has_blocks && !in_block(layer));
    };
    std::vector<LayerRange> ranges;
    for (std::uint32_t i = first; i < end; ++i) {
        const Layer& layer = network.layers[i];
        if (recompute == Recompute::kSelective && layer.type == "attention")
            ranges.push_back({i, i + 1});
        if (recompute != Recompute::kFull || is_kept(layer))
            continue;
        const bool goes_on =
            !ranges.empty() && ranges.back().end == i && network.layers[i - 1].block == layer.block;
        if (goes_on)
            ranges.back().end = i + 1;
        else
            ranges.push_back({i, i + 1});
    }
    return ranges;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/plan_step.h"

#include <algorithm>

namespace switchfold {

std::vector<std::uint32_t> equal_partition(const Network& network, std::uint32_t stages) {
    // Layers at which blocks begin; layers before the first and after the last block form pieces
    // too.
    std::vector<std::uint32_t> pieces;
    for (std::uint32_t i = 0; i < network.layers.size(); ++i)
        if (i == 0 || network.layers[i].block != network.layers[i - 1].block)
            pieces.push_back(i);
    const bool before = network.layers.front().block == kNoBlock;
    const bool behind = pieces.size() > 1 && network.layers.back().block == kNoBlock;
    const std::size_t blocks = pieces.size() - (before ? 1 : 0) - (behind ? 1 : 0);
    std::vector<std::uint32_t> first;
    if (pieces.size() % stages == 0) {
        for (std::uint32_t s = 0; s < stages; ++s)
            first.push_back(pieces[s * (pieces.size() / stages)]);
    } else if (blocks > 0 && blocks % stages == 0) {
        for (std::uint32_t s = 0; s < stages; ++s)
            first.push_back(pieces[s * (blocks / stages) + (before ? 1 : 0)]);
        first.front() = 0;
    }
    return first;
}

}  // namespace switchfold

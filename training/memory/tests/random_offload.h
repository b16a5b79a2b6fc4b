// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"

#include <rapidcheck.h>

#include <algorithm>
#include <string>

namespace switchfold::test_data {

/// A small chain of layers with activations, moments and scratch, and at most 16 candidates. Some
/// activations are read again by later layers.
inline TensorUses random_schedule() {
    TensorUses schedule;
    schedule.name = "random";
    const auto layers = *rc::gen::inRange<std::uint32_t>(2, 9);
    const bool skips = *rc::gen::arbitrary<bool>();
    const auto bytes = [] { return *rc::gen::inRange<std::uint64_t>(1, 40); };
    for (std::uint32_t l = 0; l < 2 * layers; ++l) {
        MemoryItem item{(l < layers ? "a" : "h") + std::to_string(l % layers)};
        item.bytes = bytes();
        item.persistent = l >= layers;
        item.kind = l < layers ? MemoryClass::kActivations : MemoryClass::kMoments;
        schedule.items.push_back(item);
    }
    std::vector<std::uint32_t> skip_of(layers, layers);
    for (std::uint32_t l = 2; l < layers; ++l)
        if (skips && *rc::gen::inRange(0, 3) == 0)
            skip_of[l] = *rc::gen::inRange<std::uint32_t>(0, l - 1);
    const auto scratch = [&] {
        MemoryItem item{"s" + std::to_string(schedule.items.size())};
        item.bytes = bytes();
        item.scratch = true;
        schedule.items.push_back(item);
        return static_cast<std::uint32_t>(schedule.items.size() - 1);
    };
    for (std::uint32_t t = 0; t < 2 * layers; ++t) {
        const bool forward = t < layers;
        const std::uint32_t l = forward ? t : 2 * layers - 1 - t;
        LayerUse step{
            (forward ? "F" : "B") + std::to_string(l),
            forward ? UseKind::kForward : UseKind::kBackward, static_cast<double>(bytes())};
        step.open.push_back({l, forward});
        if (l > 0)
            step.open.push_back({l - 1, false});
        if (skip_of[l] < layers && skip_of[l] + 1 != l)
            step.open.push_back({skip_of[l], false});
        if (!forward)
            step.open.push_back({layers + l, true});
        step.open.push_back({scratch(), true});
        schedule.steps.push_back(step);
    }
    count_copies(schedule);
    return schedule;
}

}  // namespace switchfold::test_data

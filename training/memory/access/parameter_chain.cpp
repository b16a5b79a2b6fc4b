// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/parameter_chain.h"

#include <fmt/format.h>

namespace switchfold {

TensorUses parameter_chain(const Network& network, const ChainOptions& options) {
    TensorUses schedule;
    schedule.name = network.name;
    const auto layers = static_cast<std::uint32_t>(network.layers.size());
    const auto rounded = [&](std::uint64_t elements) {
        const std::uint64_t bytes = elements * options.element;
        return (bytes + options.granule - 1) / options.granule * options.granule;
    };
    const auto add = [&](const char* name, std::uint32_t layer, MemoryClass kind,
                         std::uint64_t bytes, bool scratch) {
        MemoryItem item{fmt::format("{}_{}", name, layer), kind, bytes};
        item.scratch = scratch;
        item.persistent = kind == MemoryClass::kMoments || kind == MemoryClass::kWeights;
        schedule.items.push_back(std::move(item));
    };
    // a_0 .. a_L, then h_1 .. h_L: the order for comparisons of planners.
    for (std::uint32_t l = 0; l <= layers; ++l) {
        const std::uint64_t elements =
            l == 0 ? options.input_elements : network.layers[l - 1].out_elements;
        add("a", l, MemoryClass::kActivations, rounded(elements * options.batch), false);
    }
    const auto rows = [&](const char* name, MemoryClass kind, bool scratch) {
        for (std::uint32_t l = 1; l <= layers; ++l)
            add(name, l, kind, rounded(network.layers[l - 1].parameters), scratch);
    };
    rows("h", MemoryClass::kMoments, false);
    rows("w", MemoryClass::kWeights, true);
    rows("g", MemoryClass::kGradients, true);
    for (std::uint32_t l = 1; l <= layers; ++l)
        add("d", l, MemoryClass::kWorkspace, schedule.items[l].bytes, true);
    const auto h = [&](std::uint32_t l) { return layers + l; };
    const auto w = [&](std::uint32_t l) { return 2 * layers + l; };
    const auto g = [&](std::uint32_t l) { return 3 * layers + l; };
    const auto d = [&](std::uint32_t l) { return 4 * layers + l; };
    for (std::uint32_t l = 1; l <= layers; ++l)
        schedule.steps.push_back(
            {fmt::format("F_{}", l),
             UseKind::kForward,
             0,
             {{w(l), false}, {l - 1, l == 1}, {l, true}}});
    for (std::uint32_t l = layers; l > 0; --l) {
        LayerUse step{
            fmt::format("B_{}", l),
            UseKind::kBackward,
            0,
            {{w(l), true}, {g(l), true}, {h(l), true}, {l - 1, false}, {l, false}, {d(l), true}}};
        if (l > 1)
            step.open.push_back({d(l - 1), true});
        schedule.steps.push_back(std::move(step));
    }
    count_copies(schedule);
    return schedule;
}

}  // namespace switchfold

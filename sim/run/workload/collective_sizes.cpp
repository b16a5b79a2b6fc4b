// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/collective_sizes.h"

#include "sim/run/machine/machine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <variant>

namespace switchfold {

std::uint32_t estimate_collective_sizes(const SystemParams& system, ExecutionGraph& graph) {
    struct Key {
        CollectiveKind kind;
        std::uint32_t group;
        std::uint32_t blocks;
        std::uint32_t ordinal;  ///< index within its step
        auto operator<=>(const Key&) const = default;
    };
    std::map<Key, Time> shortest;
    const auto for_each = [&](auto&& visit) {
        for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
            std::map<std::tuple<std::uint32_t, CollectiveKind, std::uint32_t>, std::uint32_t>
                ordinals;
            for (const Operation& operation : graph.ranks[r]->operations)
                if (const auto* c = std::get_if<CollectiveOperation>(&operation.body);
                    c != nullptr && c->bytes.count() == 0)
                    visit(
                        *c,
                        Key{c->kind,
                            c->group,
                            c->thread_blocks,
                            ordinals[{operation.step, c->kind, c->group}]++});
        }
    };
    for_each([&](const CollectiveOperation& c, const Key& key) {
        auto [at, fresh] = shortest.try_emplace(key, c.measured);
        if (!fresh)
            at->second = std::min(at->second, c.measured);
    });
    if (shortest.empty())
        return 0;
    Simulation simulation;
    MachineOptions options;
    options.ranks = static_cast<std::uint32_t>(graph.ranks.size());
    options.groups = graph.groups;
    options.policies = ring_policy();
    Machine machine(simulation, system, options);
    std::map<Key, Bytes> sizes;
    for (const auto& [key, time] : shortest) {
        const std::vector<std::uint32_t>& ranks = graph.groups[key.group].ranks;
        if (ranks.size() < 2) {
            sizes[key] = Bytes(16);
            continue;
        }
        // A single pass moves half of what an all-reduce of the same size moves.
        const bool twice = key.kind == CollectiveKind::kAllReduce;
        std::uint64_t low = 16;
        std::uint64_t high = 1ULL << 36U;
        while (low + 16 < high) {
            const std::uint64_t middle = (low + high) / 2;
            if (machine.collectives().choose(ranks, Bytes(middle)).estimate < time)
                low = middle;
            else
                high = middle;
        }
        sizes[key] = Bytes(
            (twice ? low : low * 2) / 16 / ranks.size() * 16 * ranks.size() + 16 * ranks.size());
    }
    std::uint32_t changed = 0;
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> replaced;
    for (auto& rank : graph.ranks) {
        auto& fresh = replaced[rank.get()];
        if (!fresh) {
            auto copy = std::make_shared<RankGraph>(*rank);
            std::map<std::tuple<std::uint32_t, CollectiveKind, std::uint32_t>, std::uint32_t>
                ordinals;
            for (Operation& operation : copy->operations)
                if (auto* c = std::get_if<CollectiveOperation>(&operation.body);
                    c != nullptr && c->bytes.count() == 0) {
                    const Key key{
                        c->kind,
                        c->group,
                        c->thread_blocks,
                        ordinals[{operation.step, c->kind, c->group}]++};
                    c->bytes = sizes.at(key);
                    ++changed;
                }
            fresh = std::move(copy);
        }
        rank = fresh;
    }
    return changed;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/folded_ranks.h"

#include "core/first_ranks.h"
#include "interconnect/reduction_tree.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/in_switch/in_switch_steps.h"
#include "models/collectives/library.h"
#include "models/collectives/shortcuts/foldable.h"
#include "sim/machine/chosen_collectives.h"
#include "sim/machine/fold_work.h"
#include "sim/machine/system_queries.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

/// Fewer fold in fewer ways.
constexpr std::size_t kFewestOfAny = 32;
/// Of registered buffers, few heads with several channels each stay in step (0.3 %).
constexpr std::uint32_t kFewHeads = 8;
constexpr std::uint32_t kSeveralChannels = 4;
constexpr std::uint64_t kFewestLoopsOfTrees = 2;
/// Heads of short ones meet in another order, and the last loop's pieces are not equal.
constexpr std::uint64_t kFewestLoops = 2;
constexpr double kUnequalHeads = 0.015;

bool all_alike(const ExecutionGraph& graph) {
    return std::all_of(graph.ranks.begin(), graph.ranks.end(), [&](const auto& rank) {
        return rank == graph.ranks.front();
    });
}

bool covers_all(const Group& group, std::size_t ranks) {
    return group.stands_for == 0 && group.ranks.size() == ranks && group.ranks.back() == ranks - 1;
}

bool reduces_all(const Chosen& chosen) {
    return chosen.collective.kind == CollectiveKind::kAllReduce;
}

/// Whether all collectives are all-reduces along trees, with equally many channels on each.
bool only_trees(const std::vector<Chosen>& all, std::size_t trees) {
    return only(Pattern::kTrees, all) &&
           std::all_of(all.begin(), all.end(), [&](const Chosen& chosen) {
               return chosen.choice.channels % trees == 0;
           });
}

/// Over how many links in turn a member's packets travel to the switches.
std::size_t stripes_of(const Topology& topology, const GroupLayout& layout) {
    std::vector<std::uint32_t> lanes;
    for (const ReductionTree& tree : plan_reduction(topology, layout.machines.front()).trees)
        lanes.push_back(tree.weight);
    return stripe_order(lanes).size();
}

/// Whether a switch takes every group, so that none falls back to a ring: collectives of one stream
/// follow each other, each has two groups, they may still be held when the next begins, and a
/// folded group takes a place in the table for every stripe of the links.
bool admits_all(const Topology& topology, const ExecutionGraph& graph, std::size_t stripes) {
    constexpr std::size_t kAtOnce = 4;
    std::set<std::uint32_t> streams;
    for (const Operation& operation : graph.ranks.front()->operations)
        if (std::holds_alternative<CollectiveOperation>(operation.body))
            streams.insert(operation.stream);
    return streams.size() <= 1 && admits_groups(topology, kAtOnce * stripes);
}

/// Whether heads that pull in step pull over different links. Of registered buffers each has one
/// long piece: heads that meet on one link come out of step, which those of a fold never do.
bool apart(const InSwitchShape& shape, std::uint32_t heads, std::size_t stripes) {
    std::set<std::uint64_t> met;
    for (std::uint32_t head = 0; head < heads; ++head)
        met.insert(shape.pieces.piece(0, 0, head).begin / shape.reduce_round % stripes);
    return met.size() == heads;
}

/// Whether an all-reduce through the switches folds: of enough loops, or of few heads that pull
/// from registered buffers.
bool pulls_alike(const Chosen& chosen, const Choices& choices, std::size_t stripes) {
    const std::uint32_t ranks = choices.group().machine.ranks;
    const std::uint32_t channels = chosen.choice.channels;
    const bool registered = chosen.choice.of<NcclConfig>().registered;
    const InSwitchShape shape = in_switch_shape(
        choices.params(), ranks, channels, chosen.collective.bytes.count(), registered);
    return registered
               ? ranks <= kFewHeads && channels >= kSeveralChannels && apart(shape, ranks, stripes)
               : shape.pieces.loops(0) >= kFewestLoops;
}

/// Whether all collectives are long ones through the switches.
bool only_long_in_switch(
    const std::vector<Chosen>& all, const Choices& choices, std::size_t stripes) {
    return only(Pattern::kSwitches, all) && std::ranges::all_of(all, [&](const Chosen& chosen) {
               return reduces_all(chosen) ? pulls_alike(chosen, choices, stripes)
                                          : choices.head_loops(chosen) >= kFewestLoops;
           });
}

/// Whether all collectives are NVLS trees, each of several loops.
bool only_switched_trees(const std::vector<Chosen>& all, const Choices& choices) {
    return only(Pattern::kSwitchTrees, all) &&
           std::all_of(all.begin(), all.end(), [&](const Chosen& chosen) {
               return choices.head_loops(chosen) >= kFewestLoopsOfTrees;
           });
}

/// Machines that send to each other in either of the trees between them.
std::vector<std::pair<std::uint32_t, std::uint32_t>> tree_edges(std::uint32_t machines) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const int tree : {0, 1})
        for (std::uint32_t machine = 0; machine < machines; ++machine)
            if (const std::uint32_t above = double_binary_tree(machines, machine, tree).parent;
                above != kNoParent) {
                edges.emplace_back(machine, above);
                edges.emplace_back(above, machine);
            }
    return edges;
}

}  // namespace

std::optional<RankSymmetry> fold_of(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies,
    Fidelity fidelity) {
    const bool fast = fidelity == Fidelity::kFast;
    const auto count = static_cast<std::uint32_t>(graph.ranks.size());
    const bool many = takes_long(count, *graph.ranks.front());
    if (count < 2 || (!many && !fast) || !ranks_may_fold(system, fidelity) || !all_alike(graph))
        return std::nullopt;
    const auto collectives = collectives_of(*graph.ranks.front(), [&](std::uint32_t group) {
        return covers_all(graph.groups[group], count);
    });
    if (!collectives)
        return std::nullopt;
    const Topology topology = build_topology(system.topology);
    const Choices choices(system, topology, first_ranks(count), policies);
    const auto all = choices.of(*collectives);
    if (!all)
        return std::nullopt;
    const auto if_near = [&](std::optional<RankSymmetry> fold) {
        return fast || (fold && fold->typical <= kAutoError) ? fold : std::nullopt;
    };
    const Bytes shortest = shortest_of(*all);
    if (many && only(Pattern::kRings, *all))
        return if_near(fold_rings(
            topology, count, choices.group().rings,
            static_cast<double>(shortest.count()) /
                static_cast<double>(choices.group().rings.size())));
    if (many && only(Pattern::kShifts, *all))
        return if_near(fold_shift(topology, count, shortest));
    if (many && only(Pattern::kExchanges, *all))
        return if_near(fold_exchange(topology, choices.group().layout));
    if (count < kFewestOfAny && !fast && !only(Pattern::kSwitches, *all))
        return std::nullopt;
    if (only_trees(*all, choices.group().trees.size()))
        return if_near(fold_trees(topology, choices.group().layout, choices.group().trees));
    const std::size_t stripes = stripes_of(topology, choices.group().layout);
    if (!admits_all(topology, graph, stripes))
        return std::nullopt;
    if (many && only_long_in_switch(*all, choices, stripes)) {
        auto fold = fold_domain(topology, count);
        if (fold && !std::ranges::all_of(*all, reduces_all))
            fold->error = kUnequalHeads;
        return fold;
    }
    if (!only_switched_trees(*all, choices))
        return std::nullopt;
    const GroupLayout& layout = choices.group().layout;
    return if_near(fold_heads(
        topology, layout, tree_edges(static_cast<std::uint32_t>(layout.machines.size())),
        shortest));
}

ExecutionGraph folded_graph(const ExecutionGraph& graph, const RankSymmetry& fold) {
    const std::vector<std::uint32_t> kept = fold.kept();
    ExecutionGraph folded = graph;
    folded.ranks.resize(kept.back() + 1);
    for (Group& group : folded.groups)
        if (covers_all(group, fold.ranks())) {
            group.ranks = kept;
            group.stands_for = fold.ranks();
        } else if (group.stands_for == 0 && group.ranks.size() > 1) {
            group.whole = group.ranks;
            group.stands_for = static_cast<std::uint32_t>(group.ranks.size());
            std::erase_if(group.ranks, [&](std::uint32_t rank) { return rank > kept.back(); });
        }
    return folded;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/alike_sets.h"

#include "interconnect/faults.h"
#include "models/collectives/shortcuts/set_symmetry.h"
#include "sim/config/rank_gpus.h"
#include "sim/machine/system_queries.h"
#include "workloads/graph/rank_sets.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

/// A group may still be held by a switch when the next collective of its stream begins.
constexpr std::size_t kHeldAtOnce = 2;

/// Whether a group of the graph ties all ranks at work together.
bool is_one_set(const ExecutionGraph& graph) {
    const std::size_t at_work = ranks_at_work(graph);
    return at_work < 2 || std::ranges::any_of(graph.groups, [&](const Group& group) {
               return group.ranks.size() >= at_work;
           });
}

std::vector<std::vector<std::uint32_t>>
ranks_of(const ExecutionGraph& graph, const std::vector<std::uint32_t>& groups) {
    std::vector<std::vector<std::uint32_t>> ranks;
    for (const std::uint32_t group : groups)
        if (graph.groups[group].ranks.size() > 1)
            ranks.push_back(graph.groups[group].ranks);
    return ranks;
}

/// Links that are slower or make errors; nothing where others would take the traffic of one that is
/// down, or a switch fails.
std::optional<std::vector<std::uint32_t>>
unlike_edges(const Topology& topology, const std::vector<FaultParams>& faults) {
    std::vector<std::uint32_t> unlike;
    for (const FaultParams& fault : faults) {
        if (!std::holds_alternative<LinkDegradedFault>(fault) &&
            !std::holds_alternative<BitErrorsFault>(fault))
            return std::nullopt;
        for (const std::uint32_t edge : edges_named(topology, component_of(fault)))
            unlike.push_back(edge);
    }
    return unlike;
}

/// Finds for each set the first one that it is like.
class Images {
public:
    /// `apart`: first ranks of sets that are like no other.
    Images(const SystemParams& system, const ExecutionGraph& graph, std::set<std::uint32_t> apart) :
        gpus_(system), work_(graph), apart_(std::move(apart)) {}

    void add(const std::vector<std::uint32_t>& set, AlikeSets& found) {
        if (apart_.contains(set.front()))
            return;
        const auto like = std::ranges::find_if(kept_, [&](const auto* other) {
            return on_like_gpus(set, *other) && work_.of(set, *other);
        });
        if (like == kept_.end()) {
            kept_.push_back(&set);
            return;
        }
        for (std::size_t i = 0; i < set.size(); ++i) {
            found.symmetry.image_of_rank[set[i]] = (**like)[i];
            found.represented[(**like)[i]].push_back(set[i]);
        }
        for (const auto& [group, image] : work_.group_images())
            found.image_of_group[group] = image;
    }

private:
    [[nodiscard]] bool on_like_gpus(
        const std::vector<std::uint32_t>& set, const std::vector<std::uint32_t>& other) const {
        return std::ranges::equal(set, other, [&](std::uint32_t a, std::uint32_t b) {
            return gpus_.kind(a) == gpus_.kind(b);
        });
    }
    RankGpus gpus_;
    SameWork work_;
    std::set<std::uint32_t> apart_;
    std::vector<const std::vector<std::uint32_t>*> kept_;
};

}  // namespace

std::optional<AlikeSets>
alike_sets_of(const SystemParams& system, const ExecutionGraph& graph, Fidelity fidelity) {
    if (fidelity == Fidelity::kExact || !system.has_gpus() || minds_congestion(*system.topology) ||
        is_one_set(graph))
        return std::nullopt;
    const auto contacts = contacts_of(graph);
    if (!contacts)
        return std::nullopt;
    auto groups = ranks_of(graph, contacts->groups);
    const std::size_t held = kHeldAtOnce * contacts->streams * groups.size();
    if (WaysOfRanks::pairs_of(groups) + contacts->messages.size() > WaysOfRanks::kMostPairs)
        return std::nullopt;
    RankSets sets(graph.ranks.size());
    for (const auto& group : groups)
        for (const std::uint32_t rank : group)
            sets.join(group.front(), rank);
    for (const auto& [sender, receiver] : contacts->messages)
        sets.join(sender, receiver);
    if (sets.all().size() < 2)
        return std::nullopt;
    const Topology topology = build_topology(system.topology);
    const auto unlike = unlike_edges(topology, system.faults);
    if (!unlike)
        return std::nullopt;
    const WaysOfRanks ways(topology, std::move(groups), contacts->messages);
    if (ways.through_switches() && !admits_groups(topology, held))
        return std::nullopt;
    ways.for_each_shared([&](std::uint32_t rank, std::uint32_t other) { sets.join(rank, other); });
    const auto all = sets.all();
    std::set<std::uint32_t> apart;
    for (const std::uint32_t edge : *unlike)
        if (ways.user_of(edge) != RankSymmetry::kIdle)
            apart.insert(sets.first_of(ways.user_of(edge)));
    AlikeSets found{RankSymmetry(topology, static_cast<std::uint32_t>(graph.ranks.size())), {}, {}};
    found.image_of_group.resize(graph.groups.size());
    std::iota(found.image_of_group.begin(), found.image_of_group.end(), 0U);
    found.represented.resize(graph.ranks.size());
    Images images(system, graph, std::move(apart));
    for (const auto& set : all)
        images.add(set, found);
    if (found.symmetry.kept().size() == graph.ranks.size() || !ways.resemble(found.symmetry))
        return std::nullopt;
    return found;
}

ExecutionGraph AlikeSets::kept(const ExecutionGraph& graph) const {
    ExecutionGraph few = graph;
    few.ranks.resize(symmetry.kept().back() + 1);
    const auto idle = std::make_shared<const RankGraph>();
    for (std::uint32_t rank = 0; rank < few.ranks.size(); ++rank)
        if (symmetry.image_of_rank[rank] != rank)
            few.ranks[rank] = idle;
    for (std::uint32_t group = 0; group < few.groups.size(); ++group)
        std::erase_if(few.groups[group].ranks, [&](std::uint32_t rank) {
            return symmetry.image_of_rank[rank] != rank;
        });
    return few;
}

std::vector<CollectiveRecord> AlikeSets::all(const std::vector<CollectiveRecord>& records) const {
    std::vector<CollectiveRecord> every;
    for (const CollectiveRecord& record : records) {
        every.push_back(record);
        const bool message = record.sender != record.receiver;
        if (message) {
            for (std::size_t i = 0; i < represented[record.sender].size(); ++i) {
                every.push_back(record);
                every.back().sender = represented[record.sender][i];
                every.back().receiver = represented[record.receiver][i];
            }
            continue;
        }
        for (std::uint32_t group = 0; group < image_of_group.size(); ++group)
            if (image_of_group[group] == record.group && group != record.group) {
                every.push_back(record);
                every.back().group = group;
            }
    }
    return every;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/fold/folded_graph.h"

#include "core/error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

/// Appends a graph's operations to those of the same ranks, on their first stream.
void append(ExecutionGraph& graph, const ExecutionGraph& more) {
    const auto names = static_cast<std::uint32_t>(graph.names.size());
    const auto groups = static_cast<std::uint32_t>(graph.groups.size());
    graph.names.insert(graph.names.end(), more.names.begin(), more.names.end());
    graph.groups.insert(graph.groups.end(), more.groups.begin(), more.groups.end());
    for (std::size_t rank = 0; rank < more.ranks.size(); ++rank) {
        RankGraph own = *graph.ranks[rank];
        if (own.streams.empty())
            own.streams = more.ranks[rank]->streams;
        for (Operation operation : more.ranks[rank]->operations) {
            operation.name += names;
            if (auto* collective = std::get_if<CollectiveOperation>(&operation.body))
                collective->group += groups;
            own.operations.push_back(std::move(operation));
        }
        graph.ranks[rank] = std::make_shared<const RankGraph>(std::move(own));
    }
}

/// Without what tells uses of one family apart.
CollectiveOperation family_of(CollectiveOperation collective) {
    collective.bytes = Bytes();
    collective.peers_late = Time();
    collective.group = 0;
    collective.sequence = 0;
    collective.measured = Time();
    return collective;
}

/// Of graphs that have few different ones. \returns 1 + its index.
std::uint32_t index_of(MeasuredAs as, std::vector<MeasuredAs>& all) {
    const auto found = std::find(all.begin(), all.end(), as);
    const auto index = static_cast<std::uint32_t>(found - all.begin());
    if (found == all.end())
        all.push_back(std::move(as));
    return 1 + index;
}

/// Any other collective begins when all its ranks have come.
bool waits_in_parts(const CollectiveOperation& collective) {
    return collective.kind == CollectiveKind::kAllToAll;
}

CollectiveFamily::Call call_of(const CollectiveOperation& collective) {
    return {collective.bytes, waits_in_parts(collective) ? collective.peers_late : Time()};
}

/// What is left of a collective after some of its time.
void leave_after(Time passed, MeasuredCollective& collective) {
    const Time all = collective.time;
    const double left =
        all > passed ? 1 - static_cast<double>(passed.count()) / static_cast<double>(all.count())
                     : 0;
    const auto part = [&](std::uint64_t whole) {
        return static_cast<std::uint64_t>(std::llround(left * static_cast<double>(whole)));
    };
    collective.time = Time(std::max<std::uint64_t>(1, part(all.count())));
    collective.traffic = Bytes(part(collective.traffic.count()));
    collective.busy = Time(part(collective.busy.count()));
}

}  // namespace

FoldedGraph::FoldedGraph(Parts parts) : parts_(std::move(parts)) {
    find_collectives();
    leave_represented_ranks();
    probe_ = parts_.whole.graph;
    probe_.experts = parts_.skeleton.experts;
    probe_.exchanges = parts_.skeleton.exchanges;
    for (std::size_t family = 0; family < families_.size(); ++family) {
        std::vector<std::size_t> all(families_[family].calls.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        append(probe_, family_probe(family, all, orbits().at(families_[family].orbit).ranks));
    }
}

/// Finds the collectives of orbits that nothing else gives a time. Those between ranks that all
/// are simulated stay.
void FoldedGraph::find_collectives() {
    const ExecutionGraph& skeleton = parts_.skeleton;
    for (std::uint32_t rank = 0; rank < skeleton.ranks.size(); ++rank) {
        const auto& operations = skeleton.ranks[rank]->operations;
        for (std::uint32_t i = 0; i < operations.size(); ++i) {
            const auto* body = std::get_if<CollectiveOperation>(&operations[i].body);
            if (body == nullptr || body->given > Time() || !parts_.orbit_of[body->group])
                continue;
            const std::uint32_t orbit = *parts_.orbit_of[body->group];
            const CollectiveOperation alike = family_of(*body);
            auto family = std::find_if(families_.begin(), families_.end(), [&](const auto& f) {
                return f.orbit == orbit && f.operation == alike;
            });
            if (family == families_.end())
                family = families_.insert(family, {orbit, alike, {}});
            std::vector<CollectiveFamily::Call>& calls = family->calls;
            const CollectiveFamily::Call call = call_of(*body);
            const auto found = std::find(calls.begin(), calls.end(), call);
            collectives_of_.push_back(
                {rank, i, static_cast<std::size_t>(found - calls.begin()),
                 static_cast<std::size_t>(family - families_.begin())});
            if (found == calls.end())
                calls.push_back(call);
        }
    }
}

/// A group of which one rank is left waits for nobody; the ranks that are left wait for each other,
/// but where only time passes.
void FoldedGraph::leave_represented_ranks() {
    ExecutionGraph& skeleton = parts_.skeleton;
    for (std::size_t number = 0; number < skeleton.groups.size(); ++number) {
        const bool measured = parts_.orbit_of[number].has_value();
        if (measured && parts_.alone)
            continue;
        Group& group = skeleton.groups[number];
        const auto whole = static_cast<std::uint32_t>(group.ranks.size());
        if (std::erase_if(
                group.ranks,
                [&](std::uint32_t rank) { return skeleton.ranks[rank]->operations.empty(); }) > 0 &&
            measured)
            group.stands_for = whole;
    }
}

ExecutionGraph FoldedGraph::family_probe(
    std::size_t family, const std::vector<std::size_t>& which, std::uint32_t ranks) const {
    ExecutionGraph graph = orbits().probe(families_[family], which, ranks);
    graph.experts = parts_.skeleton.experts;
    graph.exchanges = parts_.skeleton.exchanges;
    return graph;
}

FoldedGraph::Measured FoldedGraph::each(Time time) const {
    Measured measured;
    measured.pieces.assign(whole().pieces.size(), time);
    MeasuredCollective collective;
    collective.time = time;
    for (const CollectiveFamily& family : families_)
        measured.collectives.emplace_back(family.calls.size(), collective);
    return measured;
}

ExecutionGraph FoldedGraph::graph(const Measured& measured) const {
    SWITCHFOLD_CHECK(
        measured.pieces.size() == whole().pieces.size() &&
            measured.collectives.size() == families_.size(),
        "times of other pieces");
    std::map<std::uint32_t, RankGraph> changed;
    const auto body_of = [&](const Use& use) -> OperationBody& {
        const auto at = changed.try_emplace(use.rank, *parts_.skeleton.ranks[use.rank]).first;
        return at->second.operations[use.operation].body;
    };
    for (const Use& use : parts_.pieces_of)
        std::get<KernelOperation>(body_of(use)).isolated = measured.pieces[use.index];
    ExecutionGraph graph = parts_.skeleton;
    for (const Use& use : collectives_of_) {
        MeasuredCollective found = measured.collectives[use.family].at(use.index);
        auto& collective = std::get<CollectiveOperation>(body_of(use));
        if (waits_in_parts(collective))
            leave_after(collective.peers_late, found);
        collective.given = found.time;
        const std::uint32_t orbit = families_[use.family].orbit;
        const std::vector<std::uint32_t>& group = orbits().first_group(orbit);
        if (!found.algorithm.empty())
            collective.measured_as = index_of(
                {found.algorithm, found.study, static_cast<std::uint32_t>(group.size()),
                 orbits().machines_of(group)},
                graph.measured_as);
        if (parts_.alone)
            continue;
        collective.holds_blocks = true;
        collective.given_traffic = found.traffic;
        collective.given_footprint = found.footprint;
        collective.given_links = orbits().at(orbit).links;
        collective.given_busy = found.busy;
        collective.thread_blocks = found.blocks;
        collective.threads_per_block = found.threads;
        collective.registers_per_thread = found.registers_per_thread;
        collective.shared_memory = found.shared_memory;
    }
    for (auto& [rank, operations] : changed)
        graph.ranks[rank] = std::make_shared<const RankGraph>(std::move(operations));
    return graph;
}

}  // namespace switchfold

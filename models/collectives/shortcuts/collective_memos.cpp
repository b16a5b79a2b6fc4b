// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_memos.h"

#include "interconnect/hop.h"
#include "models/collectives/library.h"

#include <cstddef>
#include <set>
#include <utility>

namespace switchfold {

namespace {

// Of more, all pairs' ways are many.
constexpr std::size_t kMostRanks = 64;
// More are compared for long with each other.
constexpr std::size_t kMostParts = 256;
// Bytes that a GPU's memory moves at most for each that its links do: a ring's block reads what has
// come and its own, and writes its own too; what comes in is written by who sends it.
constexpr double kAccesses = 2;

}  // namespace

CollectiveMemos::CollectiveMemos(
    Fabric& fabric, TrafficCounts& counts, const std::vector<RankPort*>& ports, Recall recall) :
    fabric_(fabric), counts_(counts), ports_(ports), recall_(recall) {
    add_memo(PartCounts(counts), false);
}

void CollectiveMemos::add_memo(PartCounts counts, bool end_together) {
    const bool beside_kernels =
        recall_ == Recall::kBesideKernels || (recall_ == Recall::kTogether && end_together);
    memos_.push_back(
        std::make_unique<CollectiveMemo>(fabric_.scheduler(), std::move(counts), beside_kernels));
}

std::uint32_t CollectiveMemos::part_of(const CollectiveSpec& spec) {
    if (spec.stands_for != 0 || spec.given != Time() || spec.experts != nullptr ||
        spec.ranks.size() > kMostRanks)
        return Reaches::kAll;
    const CommunicationLibrary& library = library_of(spec.choice);
    const Name name{&library, spec.choice.algorithm, is_exchange(spec.kind), spec.ranks};
    const auto known = known_.find(name);
    if (known != known_.end())
        return known->second;
    if (reaches_.size() >= kMostParts)
        return Reaches::kAll;
    const std::optional<MemberPairs> pairs = library.pairs(spec);
    if (!pairs)
        return Reaches::kAll;
    Reach reach = reach_of(spec.ranks, *pairs);
    add_memo(PartCounts(counts_, counts_.part_of(reach.links)), library.ends_together(spec.choice));
    return known_[name] = reaches_.add(std::move(reach));
}

Reach CollectiveMemos::reach_of(const std::vector<std::uint32_t>& ranks, const MemberPairs& pairs) {
    std::set<std::uint32_t> links;
    for (const auto& [from, to] : pairs) {
        const std::vector<std::uint32_t> way = fabric_.links_between(from, to);
        links.insert(way.begin(), way.end());
    }
    std::map<std::uint32_t, double> rates;  // of its links, by node
    for (const std::uint32_t link : links) {
        const auto rate = static_cast<double>(fabric_.links()[link]->bandwidth().count());
        rates[fabric_.topology().end_of(reversed(link))] += rate;
        rates[fabric_.topology().end_of(link)] += rate;
    }
    Reach reach{{links.begin(), links.end()}, ranks, {}};
    for (const std::uint32_t rank : ranks) {
        const double memory = ports_[rank]->access_bandwidth();
        reach.loads.push_back(memory > 0 ? kAccesses * rates[rank] / memory : 0);
    }
    return reach;
}

std::uint32_t CollectiveMemos::begins(const CollectiveSpec& spec) {
    const std::uint32_t part = part_of(spec);
    for (const std::uint32_t other : reaches_.touching(part))
        memos_[other]->touch();
    for (const std::uint32_t other : reaches_.slowing(part))
        memos_[other]->disturb();
    reaches_.begin(part);
    return part;
}

void CollectiveMemos::on_host_copy(Time /*now*/) {
    for (const auto& memo : memos_) {
        memo->touch();
        memo->disturb();
    }
}

Time CollectiveMemos::recalled() const {
    Time all;
    for (const auto& memo : memos_)
        all += memo->recalled();
    return all;
}

}  // namespace switchfold

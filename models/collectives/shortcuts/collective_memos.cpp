// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_memos.h"

#include "interconnect/fabric.h"
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

bool stays_between_members(const CollectiveSpec& spec) {
    return spec.stands_for == 0 && spec.given == Time() && spec.experts == nullptr &&
           spec.ranks.size() <= kMostRanks &&
           library_of(spec.choice).stays_between_members(spec.choice);
}

}  // namespace

CollectiveMemos::CollectiveMemos(Fabric& fabric, TrafficCounts& counts, bool beside_kernels) :
    fabric_(fabric), counts_(counts), beside_kernels_(beside_kernels) {
    add_memo(PartCounts(counts));
}

void CollectiveMemos::add_memo(PartCounts counts) {
    memos_.push_back(
        std::make_unique<CollectiveMemo>(fabric_.scheduler(), std::move(counts), beside_kernels_));
}

std::uint32_t CollectiveMemos::part_of(const CollectiveSpec& spec) {
    if (!stays_between_members(spec))
        return Reaches::kAll;
    const auto known = known_.find(spec.ranks);
    if (known != known_.end())
        return known->second;
    if (reaches_.size() >= kMostParts)
        return Reaches::kAll;
    std::set<std::uint32_t> links;
    for (std::size_t i = 0; i < spec.ranks.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
            const std::vector<std::uint32_t> way =
                fabric_.links_between(spec.ranks[k], spec.ranks[i]);
            links.insert(way.begin(), way.end());
        }
    const Reach reach{{links.begin(), links.end()}, spec.ranks};
    const std::uint32_t part = reaches_.number_of(reach);
    if (part == memos_.size())
        add_memo(PartCounts(counts_, counts_.part_of(reach.links)));
    known_[spec.ranks] = part;
    return part;
}

std::uint32_t CollectiveMemos::begins(const CollectiveSpec& spec) {
    const std::uint32_t part = part_of(spec);
    for (const std::uint32_t other : reaches_.overlapping(part))
        memos_[other]->disturb();
    reaches_.begin(part);
    return part;
}

bool CollectiveMemos::alone(std::uint32_t part) const {
    return reaches_.under_way(part) == 1 && fabric_.host_traffic().copies == 0;
}

void CollectiveMemos::on_host_copy(Time /*now*/) {
    for (const auto& memo : memos_)
        memo->disturb();
}

Time CollectiveMemos::recalled() const {
    Time all;
    for (const auto& memo : memos_)
        all += memo->recalled();
    return all;
}

}  // namespace switchfold

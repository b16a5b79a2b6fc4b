// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/kept_places.h"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace switchfold {

namespace {

/// One of the numbers along a side of the plan.
struct KeptNumber {
    std::uint32_t number = 0;
    std::uint32_t stands_for = 1;
};

/// Those of slow ranks, and of the others the first of each kind.
template <class Kind>
std::vector<KeptNumber>
kept_of(std::uint32_t size, const std::set<std::uint32_t>& slow, const Kind& kind_of) {
    std::vector<KeptNumber> kept;
    std::map<std::uint32_t, std::size_t> first;
    for (std::uint32_t number = 0; number < size; ++number) {
        if (slow.contains(number)) {
            kept.push_back({number, 1});
            continue;
        }
        const auto [at, fresh] = first.try_emplace(kind_of(number), kept.size());
        if (fresh)
            kept.push_back({number, 0});
        ++kept[at->second].stands_for;
    }
    return kept;
}

/// Numbers along a side of the plan, by the kinds of all ranks that have them.
class SideKinds {
public:
    SideKinds(
        const RankMap& map, const std::vector<std::uint32_t>& kinds,
        std::uint32_t RankPlace::*side) {
        std::map<std::uint32_t, std::vector<std::uint32_t>> of;
        for (std::uint32_t rank = 0; rank < kinds.size(); ++rank)
            of[map.place(rank).*side].push_back(kinds[rank]);
        std::map<std::vector<std::uint32_t>, std::uint32_t> first;
        for (const auto& [number, its] : of)
            kind_.push_back(first.try_emplace(its, number).first->second);
    }
    /// The same for numbers whose ranks are of the same kinds, in order.
    [[nodiscard]] std::uint32_t operator()(std::uint32_t number) const {
        return kind_.empty() ? 0 : kind_[number];
    }

private:
    std::vector<std::uint32_t> kind_;  ///< by number; empty: all alike
};

}  // namespace

std::vector<KeptPlace> kept_places(
    const ParallelPlan& plan, const std::vector<SlowRank>& slow,
    const std::vector<std::uint32_t>& kinds) {
    const RankMap map(plan);
    std::set<std::uint32_t> tensor;
    std::set<std::uint32_t> context;
    std::set<std::uint32_t> data;
    std::set<std::uint32_t> blocks;   // of replicas that share experts with a slow one
    std::set<std::uint32_t> experts;  // places in such blocks
    for (const SlowRank& one : slow) {
        const RankPlace place = map.place(one.rank);
        tensor.insert(place.tensor);
        context.insert(place.context);
        data.insert(place.data);
        blocks.insert(place.data / plan.expert);
        experts.insert(place.data % plan.expert);
    }
    const SideKinds of_replica(map, kinds, &RankPlace::data);
    const auto by_experts = [&](std::uint32_t replica) {
        return 4 * of_replica(replica) + (blocks.contains(replica / plan.expert) ? 1U : 0U) +
               (experts.contains(replica % plan.expert) ? 2U : 0U);
    };
    std::vector<KeptPlace> places;
    for (const KeptNumber& d : kept_of(plan.data, data, by_experts))
        for (const KeptNumber& c :
             kept_of(plan.context, context, SideKinds(map, kinds, &RankPlace::context)))
            for (const KeptNumber& t :
                 kept_of(plan.tensor, tensor, SideKinds(map, kinds, &RankPlace::tensor)))
                places.push_back(
                    {{t.number, c.number, d.number, 0},
                     d.stands_for * c.stands_for * t.stands_for});
    return places;
}

}  // namespace switchfold

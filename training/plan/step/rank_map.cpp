// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/rank_map.h"

#include <algorithm>

namespace switchfold {

RankPlace RankMap::place(std::uint32_t rank) const {
    RankPlace place;
    place.tensor = rank % plan_.tensor;
    rank /= plan_.tensor;
    place.context = rank % plan_.context;
    rank /= plan_.context;
    place.data = rank % plan_.data;
    place.device = rank / plan_.data;
    return place;
}

std::uint32_t RankMap::rank(const RankPlace& place) const {
    return ((place.device * plan_.data + place.data) * plan_.context + place.context) *
               plan_.tensor +
           place.tensor;
}

std::vector<std::uint32_t> RankMap::replicas(std::uint32_t rank) const {
    RankPlace place = this->place(rank);
    std::vector<std::uint32_t> ranks;
    for (place.data = 0; place.data < plan_.data; ++place.data)
        for (place.context = 0; place.context < plan_.context; ++place.context)
            if (at_work(place))
                ranks.push_back(this->rank(place));
    return ranks;
}

std::vector<std::uint32_t> RankMap::sharing(Sharing what, std::uint32_t rank) const {
    const RankPlace own = place(rank);
    const std::uint32_t node = std::max(1U, plan_.node_ranks);
    const auto same = [&](std::uint32_t number) {
        const RankPlace other = place(number);
        const bool tensor = other.tensor == own.tensor;
        const bool context = other.context == own.context;
        const bool data = other.data == own.data;
        const bool device = other.device == own.device;
        const bool experts = other.data / plan_.expert == own.data / plan_.expert;
        switch (what) {
        case Sharing::kTensor:
            return context && data && device;
        case Sharing::kContext:
            return tensor && data && device;
        case Sharing::kExpert:
            return tensor && context && device && experts;
        case Sharing::kExpertNode:
            return tensor && context && device && experts && number / node == rank / node;
        case Sharing::kExpertRail:
            return tensor && context && device && experts && number % node == rank % node;
        case Sharing::kModel:
            return context && data;
        }
        return false;
    };
    std::vector<std::uint32_t> found;
    for (std::uint32_t other = 0; other < ranks(); ++other)
        if (same(other))
            found.push_back(other);
    return found;
}

}  // namespace switchfold

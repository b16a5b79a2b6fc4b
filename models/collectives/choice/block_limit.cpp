// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/block_limit.h"

#include "models/collectives/choice/exchange.h"

#include <algorithm>

namespace switchfold {

CollectiveParams limited(CollectiveParams params, std::uint32_t most) {
    if (most == 0)
        return params;
    params.channels = std::min(params.channels, most);
    params.in_switch_channels = std::min(params.in_switch_channels, most);
    return params;
}

CollectivePolicies limited(CollectivePolicies policies, std::uint32_t most) {
    if (most == 0)
        return policies;
    // Dispatches and combines use whole pairs of blocks: their choice applies the limit itself.
    const auto limit_one = [&](const auto& field) {
        auto& policy = policies.*(field.member);
        if constexpr (requires { policy->channels; })
            if (policy)
                policy->channels = std::min(policy->channels, most);
    };
    for_each_of(CollectivePolicies::fields(), limit_one);
    return policies;
}

CollectiveConfig limited(CollectiveConfig choice, std::uint32_t ranks, std::uint32_t most) {
    if (most == 0 || choice.channels <= most)
        return choice;
    choice.channels = most;
    if (channels_for_a_peer(choice) != 0)
        choice.of<NcclConfig>().peers_of_a_block = peers_at_once(choice, ranks);
    return choice;
}

}  // namespace switchfold

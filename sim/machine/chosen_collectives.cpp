// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/chosen_collectives.h"

#include "models/collectives/choice/block_limit.h"
#include "models/collectives/in_switch/nvls_chunk_size.h"
#include "models/collectives/library.h"
#include "sim/config/block_checks.h"

#include <algorithm>
#include <utility>

namespace switchfold {

Choices::Choices(
    const SystemParams& system, const Topology& topology, std::vector<std::uint32_t> ranks,
    const CollectivePolicies& policies) :
    topology_(topology),
    policies_(within(system, policies)),
    params_(limited(*system.collectives, policies_.most_blocks)),
    ranks_(std::move(ranks)),
    group_(view_group(topology, params_.transfer_unit, ranks_)) {}

std::optional<std::vector<Chosen>>
Choices::of(const std::vector<CollectiveOperation>& collectives) const {
    std::vector<Chosen> all;
    for (const CollectiveOperation& collective : collectives) {
        const CollectivePolicy policy = policies_.of(collective.kind);
        const std::optional<CollectiveConfig> choice =
            may_fold(collective.kind, policy) ? of(collective, policy) : std::nullopt;
        if (!choice)
            return std::nullopt;
        all.push_back({collective, *choice});
    }
    return all;
}

std::uint64_t Choices::head_loops(const Chosen& chosen) const {
    CollectiveSpec spec;
    spec.kind = chosen.collective.kind;
    spec.bytes = chosen.collective.bytes;
    spec.ranks = ranks_;
    spec.layout = group_.layout;
    spec.choice = chosen.choice;
    return nvls_chunks_of(params_, spec).loops(0);
}

std::optional<CollectiveConfig> Choices::able(const CollectiveOperation& collective) const {
    CollectivePolicy policy = policies_.of(collective.kind);
    for (;;) {
        if (const auto choice = of(collective, policy); choice || policies_.named(collective.kind))
            return choice;
        policy = library_for(collective.kind, policy).instead(policy);
    }
}

std::optional<CollectiveConfig>
Choices::of(const CollectiveOperation& collective, const CollectivePolicy& policy) const {
    const CollectiveCall call{collective.kind, collective.bytes, collective.datatype};
    const CallGroup group(topology_, ranks_, group_.machine);
    const CommunicationLibrary& library = library_for(call.kind, policy);
    if (library.refuses(params_, policy, call, group))
        return std::nullopt;
    return limited(
        library.choose(params_, policy, call, group), group_.machine.ranks, policies_.most_blocks);
}

bool only(Pattern pattern, const std::vector<Chosen>& all) {
    return std::all_of(all.begin(), all.end(), [&](const Chosen& chosen) {
        return pattern_of(chosen.collective.kind, chosen.collective.datatype, chosen.choice) ==
               pattern;
    });
}

Bytes shortest_of(const std::vector<Chosen>& all) {
    Bytes shortest(UINT64_MAX);
    for (const Chosen& chosen : all)
        shortest = std::min(shortest, chosen.collective.bytes);
    return shortest;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/policies.h"

#include "models/collectives/choice/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace switchfold {

namespace {

/// Algorithms that a policy of this kind may ask for, beside auto.
std::vector<Algorithm> known_to(CollectiveKind kind) {
    if (is_exchange(kind))
        return {};
    if (kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllGather)
        return {Algorithm::kRing, Algorithm::kInSwitch};
    return {Algorithm::kRing};
}

void check_one(CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) {
    const std::vector<Algorithm> known = known_to(kind);
    if (policy.algorithm != Algorithm::kAuto &&
        std::find(known.begin(), known.end(), policy.algorithm) == known.end()) {
        std::string expected = "auto";
        for (const Algorithm algorithm : known)
            expected += fmt::format(" or {}", enum_name(algorithm));
        checker.error(
            fmt::format("/{}/algorithm", to_string(kind)),
            fmt::format(
                "is {}, which {} does not know; expected {}",
                enum_name(policy.algorithm),
                to_string(kind),
                expected));
    }
    if (is_exchange(kind) && policy.protocol == Protocol::kLl128)
        checker.error(
            fmt::format("/{}/protocol", to_string(kind)),
            "is ll128, which sends and receives do not know; expected auto, ll or simple");
    if (policy.registered && policy.algorithm != Algorithm::kInSwitch)
        checker.error(
            fmt::format("/{}/registered", to_string(kind)),
            "is set without the switches; expected algorithm in_switch beside it");
}

}  // namespace

const std::optional<CollectivePolicy>& CollectivePolicies::named(CollectiveKind kind) const {
    switch (kind) {
    case CollectiveKind::kAllReduce:
        return all_reduce;
    case CollectiveKind::kReduceScatter:
        return reduce_scatter;
    case CollectiveKind::kAllGather:
        return all_gather;
    case CollectiveKind::kBroadcast:
        return broadcast;
    case CollectiveKind::kReduce:
        return reduce;
    case CollectiveKind::kAllToAll:
        return all_to_all;
    case CollectiveKind::kGather:
        return gather;
    case CollectiveKind::kScatter:
        return scatter;
    case CollectiveKind::kMoeDispatch:  // `experts` names them
    case CollectiveKind::kMoeCombine:
    case CollectiveKind::kSendReceive:
        break;
    }
    return send_receive;
}

void CollectivePolicies::check(ParamChecker& checker) const {
    for (const CollectiveKind kind : kCollectiveKinds)
        if (kind != CollectiveKind::kAllReduce && named(kind))
            check_one(kind, *named(kind), checker);
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/policies.h"

#include "models/collectives/choice/policy_checks.h"
#include "models/collectives/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace switchfold {

void check_policy(CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) {
    const PolicyChecks at(kind, policy, checker);
    const CommunicationLibrary& library = library_for(kind, policy);
    // Sends and receives have no algorithm by name.
    const auto knows = [kind](Kernels kernels) {
        return kernels == Kernels::kClassic || !algorithms_for(kind, kernels).empty();
    };
    if (!knows(policy.kernels)) {
        std::string expected;
        for (const auto& [other, word] : EnumNames<Kernels>::kNames)
            if (knows(other))
                expected += fmt::format("{}{}", expected.empty() ? "" : " or ", word);
        at.error(
            "kernels", fmt::format(
                           "is {}, and {} {}; expected {}", enum_name(policy.kernels),
                           library.lack(), to_string(kind), expected));
        return;
    }
    const std::vector<Algorithm> known = algorithms_for(kind, policy.kernels);
    if (policy.algorithm != Algorithm::kAuto &&
        std::find(known.begin(), known.end(), policy.algorithm) == known.end()) {
        std::string expected = "auto";
        for (const Algorithm algorithm : known)
            if (algorithm != Algorithm::kProgram)  // no word by itself
                expected += fmt::format(" or {}", enum_name(algorithm));
        at.error(
            "algorithm", fmt::format(
                             "is {}, which {}{} does not support; expected {}",
                             enum_name(policy.algorithm), to_string(kind),
                             policy.kernels == Kernels::kClassic
                                 ? ""
                                 : fmt::format(" with {} kernels", enum_name(policy.kernels)),
                             expected));
    }
    at.expect_quantised_in_switch();
    library.check(kind, policy, checker);
}

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
    case CollectiveKind::kMoeDispatch:  // selected by `experts`
    case CollectiveKind::kMoeCombine:
    case CollectiveKind::kSendReceive:
        break;
    }
    return send_receive;
}

void CollectivePolicies::check(ParamChecker& checker) const {
    for (const CollectiveKind kind : kCollectiveKinds)
        if (named(kind))
            check_policy(kind, *named(kind), checker);
}

}  // namespace switchfold

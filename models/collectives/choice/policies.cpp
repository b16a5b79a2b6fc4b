// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/policies.h"

#include "models/collectives/choice/exchange.h"
#include "models/collectives/choice/known_algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace switchfold {

namespace {

/// Sends and receives have no algorithm by name.
bool knows(Kernels kernels, CollectiveKind kind) {
    return kernels == Kernels::kClassic || !algorithms_for(kind, kernels).empty();
}

/// Protocols that these kernels do not support.
std::string_view refused(Protocol protocol, const CollectivePolicy& policy, CollectiveKind kind) {
    if (moves_by_copies(policy.algorithm) && protocol != Protocol::kAuto)
        return "is one of thread blocks, and copies have none; expected auto";
    switch (policy.kernels) {
    case Kernels::kClassic:
        if (is_exchange(kind) && protocol == Protocol::kLl128)
            return "is ll128, which sends and receives do not know; expected auto, ll or simple";
        break;
    case Kernels::kSymmetric:
        if (protocol == Protocol::kLl128)
            return "is ll128, which symmetric kernels do not know; expected auto, ll or simple";
        if (protocol == Protocol::kLl && kind == CollectiveKind::kReduceScatter &&
            policy.algorithm == Algorithm::kInSwitch)
            return "is ll, in which the switch adds nothing; expected auto or simple";
        break;
    case Kernels::kCopyEngine:
        if (protocol == Protocol::kLl || protocol == Protocol::kLl128)
            return "is one of thread blocks, and copy engines have none; expected auto";
        break;
    }
    return {};
}

}  // namespace

void check_policy(CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) {
    const auto pointer = [kind](std::string_view key) {
        return fmt::format("/{}/{}", to_string(kind), key);
    };
    if (!knows(policy.kernels, kind)) {
        std::string expected = "classic";
        for (const Kernels other : {Kernels::kSymmetric, Kernels::kCopyEngine})
            if (knows(other, kind))
                expected += fmt::format(" or {}", enum_name(other));
        checker.error(
            pointer("kernels"),
            fmt::format(
                "is {}, and {} {}; expected {}",
                enum_name(policy.kernels),
                policy.kernels == Kernels::kCopyEngine ? "copy engines do no"
                                                       : "there are no symmetric kernels of",
                to_string(kind),
                expected));
        return;
    }
    const std::vector<Algorithm> known = algorithms_for(kind, policy.kernels);
    if (policy.algorithm != Algorithm::kAuto &&
        std::find(known.begin(), known.end(), policy.algorithm) == known.end()) {
        std::string expected = "auto";
        for (const Algorithm algorithm : known)
            expected += fmt::format(" or {}", enum_name(algorithm));
        checker.error(
            pointer("algorithm"),
            fmt::format(
                "is {}, which {}{} does not know; expected {}",
                enum_name(policy.algorithm),
                to_string(kind),
                policy.kernels == Kernels::kClassic
                    ? ""
                    : fmt::format(" with {} kernels", enum_name(policy.kernels)),
                expected));
    }
    if (const std::string_view why = refused(policy.protocol, policy, kind); !why.empty())
        checker.error(pointer("protocol"), std::string(why));
    if (policy.kernels != Kernels::kClassic && policy.mode != InSwitchMode::kPull)
        checker.error(
            pointer("mode"),
            fmt::format(
                "is {}, which {} kernels do not know; expected pull",
                enum_name(policy.mode),
                enum_name(policy.kernels)));
    const bool copies = moves_by_copies(policy.algorithm);
    if ((policy.kernels == Kernels::kCopyEngine || copies) && policy.channels != 0)
        checker.error(
            pointer("channels"),
            fmt::format(
                "is set, and {} take no thread block; expected 0",
                copies ? "copies" : "copy engines"));
    if (!copies && policy.copies != PeerCopyPolicy())
        checker.error(
            pointer("copies"),
            "is given, and only owners, topology_tree and host exchange by copies; expected one of "
            "these algorithms");
    const bool needs_switch = policy.kernels == Kernels::kClassic;
    if (policy.registered && needs_switch && kind != CollectiveKind::kAllReduce &&
        policy.algorithm != Algorithm::kInSwitch)
        checker.error(
            pointer("registered"),
            "is set without the switches; expected algorithm in_switch beside it");
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

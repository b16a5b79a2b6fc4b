// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/named_policies.h"

namespace switchfold {

CollectivePolicy in_switch_policy() {
    CollectivePolicy policy;
    policy.algorithm = Algorithm::kInSwitch;
    return policy;
}

std::vector<NamedPolicy> policies_across_switches() {
    std::vector<NamedPolicy> found;
    for (const Algorithm algorithm : {Algorithm::kInSwitchTree, Algorithm::kCollnet}) {
        CollectivePolicy policy;
        policy.algorithm = algorithm;
        found.push_back({enum_name(algorithm), policy});
    }
    return found;
}

CollectivePolicy multicast_copy_policy() {
    CollectivePolicy policy;
    policy.kernels = Kernels::kCopyEngine;
    policy.algorithm = Algorithm::kInSwitch;
    return policy;
}

bool asks_for_rings(const CollectivePolicy& policy) {
    return policy.kernels == Kernels::kClassic && policy.algorithm == Algorithm::kRing;
}

bool asks_for_switches(const CollectivePolicy& policy) {
    return reduces_in_switch(policy.algorithm);
}

bool asks_for_switches_across(const CollectivePolicy& policy) {
    return asks_for_switches(policy) && policy.algorithm != Algorithm::kInSwitch;
}

}  // namespace switchfold

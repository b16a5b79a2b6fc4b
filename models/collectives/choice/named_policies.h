// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <string_view>
#include <vector>

namespace switchfold {

/// All-reduces through the switches of one domain.
[[nodiscard]] CollectivePolicy in_switch_policy();
/// All-reduces through the switches of several machines, each with the name of its algorithm.
struct NamedPolicy {
    std::string_view name;
    CollectivePolicy policy;
};
[[nodiscard]] std::vector<NamedPolicy> policies_across_switches();
/// Broadcasts that a copy engine hands to the switch, which copies them to all.
[[nodiscard]] CollectivePolicy multicast_copy_policy();

/// Whether the policy asks for rings.
[[nodiscard]] bool asks_for_rings(const CollectivePolicy& policy);
/// Whether it asks for switches that reduce or copy.
[[nodiscard]] bool asks_for_switches(const CollectivePolicy& policy);
/// Of these, whether it asks for those of several machines, so that groups inside one cannot run.
[[nodiscard]] bool asks_for_switches_across(const CollectivePolicy& policy);

}  // namespace switchfold

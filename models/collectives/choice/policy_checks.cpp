// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/policy_checks.h"

#include "models/collectives/in_switch/switch_mode.h"

#include <fmt/format.h>

namespace switchfold {

void PolicyChecks::error(std::string_view field, const std::string& what) const {
    checker_.error(fmt::format("/{}/{}", to_string(kind_), field), what);
}

void PolicyChecks::expect_no_copies() const {
    if (policy_.copies != PeerCopyPolicy())
        error(
            "copies",
            "is given, and only owners, topology_tree and host exchange by copies; expected one of "
            "these algorithms");
}

void PolicyChecks::expect_switches_where_registered() const {
    if (policy_.registered && kind_ != CollectiveKind::kAllReduce &&
        policy_.algorithm != Algorithm::kInSwitch)
        error("registered", "is set without the switches; expected algorithm in_switch beside it");
}

void PolicyChecks::expect_pull() const {
    if (policy_.mode != InSwitchMode::kPull || policy_.own_mode)
        error(
            "mode", fmt::format(
                        "is {}, which {} kernels do not support; expected pull",
                        mode_of(policy_).name(), enum_name(policy_.kernels)));
}

void PolicyChecks::expect_quantised_in_switch() const {
    const bool knows = kind_ == CollectiveKind::kAllReduce &&
                       policy_.kernels == Kernels::kClassic &&
                       policy_.algorithm == Algorithm::kInSwitch;
    if (policy_.quantised.used() && !knows)
        error(
            "quantised/at", fmt::format(
                                "is {}, and only all-reduces with algorithm in_switch and classic "
                                "kernels have 8-bit sums; expected none",
                                enum_name(policy_.quantised.at)));
}

void PolicyChecks::expect_no_blocks(std::string_view movers) const {
    if (policy_.channels != 0)
        error("channels", fmt::format("is set, and {} take no thread block; expected 0", movers));
}

}  // namespace switchfold

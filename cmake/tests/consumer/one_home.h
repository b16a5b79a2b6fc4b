// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/place.h"
#include "models/collectives/in_switch/switch_mode.h"

namespace consumer {

/// A mode of our own: members push as in Klenk's design, but all sums have one home, so that of all
/// of a switch's units those towards the first member do the work. What would a switch with one
/// unit give?
class OneHome final : public switchfold::SwitchMode {
public:
    [[nodiscard]] std::string_view name() const override { return "one_home"; }
    /// It merges no partial sums, so units may make none.
    [[nodiscard]] std::string why_not(
        const switchfold::CollectiveCall& call, const switchfold::Topology& topology,
        std::span<const std::uint32_t> ranks) const override;
    [[nodiscard]] std::unique_ptr<switchfold::RunningCollective> make(
        const switchfold::CollectiveEnvironment& environment,
        const switchfold::CollectiveSpec& spec, switchfold::MemberListener& listener,
        std::string& refused) const override;
};

/// A place of our own: every second switch that may have units has them.
class EverySecond final : public switchfold::ReductionPlace {
public:
    [[nodiscard]] bool
    has_unit(const switchfold::Topology& topology, std::uint32_t node) const override;
};

}  // namespace consumer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/parallel_plan.h"
#include "training/plan/step/rank_map.h"
#include "workloads/fold/group_orbits.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace switchfold {

/// Ranks of one pipeline device that have a collective of their own.
enum class FoldedGroup : std::uint8_t {
    kTensor,
    kContext,
    kExpert,
    kExpertNode,  ///< those of kExpert in one node (Sharing)
    kExpertRail,  ///< those of kExpert at one place of each node
    kReplicas,
    kExpertReplicas,  ///< that hold the same experts
};

/// The ranks of a collective that its replicas on several devices share: of a stage that a pipeline
/// in two directions has twice.
struct MembersOn {
    FoldedGroup members = FoldedGroup::kTensor;
    std::uint32_t devices = 1;
    auto operator<=>(const MembersOn&) const = default;
};

/// The groups of a plan's ranks as orbits on its first devices, which stand for the others.
class PlanOrbits {
public:
    /// `machine` and `ways`: as of GroupOrbits.
    PlanOrbits(const ParallelPlan& plan, std::uint32_t machine, std::vector<std::uint32_t> ways);

    /// The orbit of the groups that are like these ranks, on each of their devices with its first;
    /// none: another.
    [[nodiscard]] std::optional<std::uint32_t> of(const std::vector<std::uint32_t>& ranks);
    [[nodiscard]] GroupOrbits take() { return std::move(orbits_); }

private:
    [[nodiscard]] std::vector<std::uint32_t> group(MembersOn members, std::uint32_t rank) const;
    [[nodiscard]] std::optional<MembersOn>
    members_of(const std::vector<std::uint32_t>& ranks) const;
    [[nodiscard]] GroupOrbit orbit(MembersOn members) const;
    [[nodiscard]] std::uint32_t of_device() const {
        return plan_.tensor * plan_.context * plan_.data;
    }
    [[nodiscard]] std::uint32_t stride(MembersOn members) const;

    ParallelPlan plan_;
    RankMap map_;
    std::uint32_t machine_;
    GroupOrbits orbits_;
    std::map<MembersOn, std::uint32_t> found_;
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/parallel_plan.h"
#include "training/plan/step/rank_map.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
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
    MembersOn(FoldedGroup kind, std::uint32_t on = 1) :
        // NOLINT(google-explicit-constructor)
        members(kind),
        devices(on) {}
    FoldedGroup members;
    std::uint32_t devices;
    auto operator<=>(const MembersOn&) const = default;
};

/// Collectives of a folded step that differ in nothing but their bytes, in order of first use.
struct CollectiveFamily {
    MembersOn members = FoldedGroup::kTensor;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Datatype datatype = Datatype::kFloat32;
    std::vector<Bytes> bytes;
};

/// What a collective takes on one of its ranks, with nothing beside it.
struct MeasuredCollective {
    Time time;
    Bytes traffic;    ///< that the rank's memory serves
    Bytes footprint;  ///< of its buffers
    Time busy;        ///< so long of the time its busiest link is
    std::uint32_t blocks = 0;
    std::uint32_t threads = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;  ///< per block
};

/// The groups of a device's ranks, and graphs that measure their collectives.
class FoldedGroups {
public:
    /// `machine`: ranks per machine. `ways`: by GPU of a machine, the number of its way to others;
    /// those of one number share links. Groups of replicas that share none with the first take as
    /// long as it beside it. Empty: all may share.
    FoldedGroups(const ParallelPlan& plan, std::uint32_t machine, std::vector<std::uint32_t> ways);

    /// The ranks of the first devices, ascending, that the rank's group has.
    [[nodiscard]] std::vector<std::uint32_t> group(MembersOn members, std::uint32_t rank) const;
    /// The kind of group that these ranks are, on each of their devices with its first; none:
    /// another.
    [[nodiscard]] std::optional<MembersOn>
    members_of(const std::vector<std::uint32_t>& ranks) const;
    /// Of such a group those that are simulated: the first of each device.
    [[nodiscard]] std::vector<std::uint32_t>
    firsts_of(const std::vector<std::uint32_t>& ranks) const;
    /// As many ranks as a probe of whole groups has: those of a machine, or all replicas.
    [[nodiscard]] std::uint32_t ranks(MembersOn members) const;
    /// The fewest ranks, more than `above`, that are on whole machines and in whole groups of all
    /// that is not shortened.
    [[nodiscard]] std::uint32_t whole_ranks(MembersOn members, std::uint32_t above) const;

    /// Runs collectives of a family one after another on the first `ranks` ranks, in all groups
    /// that do so at the same time. A group of which only some ranks are among them has as many
    /// bytes a rank as the whole. On each rank the operation of number 2 i + 1 is collective i, and
    /// those before and after are marks.
    [[nodiscard]] ExecutionGraph probe(
        const CollectiveFamily& family, const std::vector<std::size_t>& which,
        std::uint32_t ranks) const;

private:
    /// By rank of the first `ranks`: whether a probe has its group.
    [[nodiscard]] std::vector<bool> taking_part(MembersOn members, std::uint32_t ranks) const;
    [[nodiscard]] std::uint32_t of_device() const {
        return plan_.tensor * plan_.context * plan_.data;
    }
    [[nodiscard]] std::uint32_t stride(MembersOn members) const;

    ParallelPlan plan_;
    RankMap map_;
    std::uint32_t machine_;
    std::vector<std::uint32_t> ways_;
};

}  // namespace switchfold

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
enum class Members : std::uint8_t {
    kTensor,
    kContext,
    kExpert,
    kReplicas,
    kExpertReplicas,  ///< that hold the same experts
};

/// Collectives of a folded step that differ in nothing but their bytes, in order of first use.
struct CollectiveFamily {
    Members members = Members::kTensor;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Datatype datatype = Datatype::kFloat32;
    std::vector<Bytes> bytes;
};

/// What a collective takes on one of its ranks, with nothing beside it.
struct MeasuredCollective {
    Time time;
    Bytes traffic;    ///< that the rank's memory serves
    Bytes footprint;  ///< of its buffers
    std::uint32_t blocks = 0;
    std::uint32_t threads = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;  ///< per block
};

/// The groups of a device's ranks, and graphs that measure their collectives.
class FoldedGroups {
public:
    /// `machine`: ranks per machine. `own_ways`: each GPU of a machine has links of its own to the
    /// others, so that one group of replicas shows the time that all take beside each other.
    FoldedGroups(const ParallelPlan& plan, std::uint32_t machine, bool own_ways);

    /// The ranks of device 0, ascending, that the rank's group has.
    [[nodiscard]] std::vector<std::uint32_t> group(Members members, std::uint32_t rank) const;
    /// The kind of group that these ranks are, all of one device and with its first; none: another.
    [[nodiscard]] std::optional<Members> members_of(const std::vector<std::uint32_t>& ranks) const;
    /// As many ranks as a probe of whole groups has: those of a machine, or all replicas.
    [[nodiscard]] std::uint32_t ranks(Members members) const;
    /// The fewest ranks, more than `above`, that are on whole machines and in whole groups of all
    /// that is not shortened.
    [[nodiscard]] std::uint32_t whole_ranks(Members members, std::uint32_t above) const;

    /// Runs collectives of a family one after another on the first `ranks` ranks, in all groups
    /// that do so at the same time. A group of which only some ranks are among them has as many
    /// bytes a rank as the whole. On each rank the operation of number 2 i + 1 is collective i, and
    /// those before and after are marks.
    [[nodiscard]] ExecutionGraph probe(
        const CollectiveFamily& family, const std::vector<std::size_t>& which,
        std::uint32_t ranks) const;

private:
    [[nodiscard]] bool takes_part(Members members, std::uint32_t rank) const;
    [[nodiscard]] std::uint32_t stride(Members members) const;

    ParallelPlan plan_;
    RankMap map_;
    std::uint32_t machine_;
    bool own_ways_;
};

}  // namespace switchfold

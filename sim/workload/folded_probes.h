// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "models/collectives/choice/policies.h"
#include "sim/config/experiment.h"
#include "sim/machine/outcome.h"
#include "workloads/fold/folded_graph.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Replicas of a collective from which on a ring is measured on fewer of them.
inline constexpr std::uint32_t kLongRing = 128;

/// The simulations that measure a folded workload on a machine: its pieces, and each family of
/// collectives.
///
/// A ring of many ranks passes its data on in as many steps as it has ranks, which take equally
/// long. So it is measured on two shorter rings of whole machines, of the same kernel and with the
/// same bytes a rank: the time of a step follows from the difference.
class FoldedProbes {
public:
    /// `whole`: passes are run with all their blocks.
    FoldedProbes(
        const FoldedGraph& folded, const SystemParams& system, const CollectivePolicies& policies,
        bool whole);

    struct Run {
        std::string label;
        ExecutionGraph graph;
        CollectivePolicies policies;
        std::uint32_t rank = 0;  ///< that is looked at
    };
    [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
    /// What measured() reads of a run's outcome.
    [[nodiscard]] Outcome told(const Run& run, Outcome outcome) const;
    /// `outcomes`: of all runs, in their order.
    [[nodiscard]] FoldedGraph::Measured measured(const std::vector<Outcome>& outcomes) const;

private:
    /// Some collectives of a family, and what runs them.
    struct Part {
        std::size_t family = 0;
        std::vector<std::size_t> which;
        std::size_t run = 0;        ///< on whole groups, or on a short ring
        std::size_t longer = 0;     ///< the same on a longer one; equal to `run`: there is none
        std::uint32_t members = 0;  ///< of the group in `run`
        std::uint32_t more = 0;     ///< in `longer`
        std::uint32_t all = 0;
    };
    void note_rates();
    /// How long the busiest link of a run was, in seconds.
    [[nodiscard]] double busy(const StatisticTable::Row& link, std::size_t wire_bytes) const;
    void measure(std::size_t family);
    void measure_whole(std::size_t family, std::vector<std::size_t> which);
    void measure_ring(
        std::size_t family, std::vector<std::size_t> which, const CollectivePolicies& policies);
    [[nodiscard]] std::size_t
    add(const Part& part, std::uint32_t ranks, const CollectivePolicies& policies);
    [[nodiscard]] std::vector<MeasuredCollective>
    of_run(const Part& part, const Outcome& outcome) const;
    [[nodiscard]] std::uint32_t members(std::uint32_t orbit, std::uint32_t ranks) const;

    const FoldedGraph& folded_;
    const ProbePieces& passes_;
    const SystemParams& system_;
    CollectivePolicies policies_;
    std::optional<Topology> topology_;     ///< where the step has collectives
    std::map<std::string, double> rates_;  ///< bytes a second, by link
    std::vector<Run> runs_;
    std::vector<Part> parts_;
};

}  // namespace switchfold

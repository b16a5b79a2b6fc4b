// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/fold/group_orbits.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// What a collective takes on one of its ranks, with nothing beside it.
struct MeasuredCollective {
    Time time;
    Bytes traffic;    ///< that the rank's memory serves
    Bytes footprint;  ///< of its buffers
    Time busy;        ///< so long of the time its busiest link is
    std::uint32_t blocks = 0;
    std::uint32_t threads = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;    ///< per block
    std::string algorithm;  ///< as MeasuredAs
    std::string study;
};

/// Operations of rank 0 of a probe: something lasts from the end of `after` to the begin of
/// `before`.
struct ProbeMarks {
    std::uint32_t after = 0;
    std::uint32_t before = 0;
};
/// A stretch of a rank's work that is one kernel, or one with fewer of its equal parts: it takes
/// `further` times as long as `parts` longer.
struct ProbePiece {
    ProbeMarks all;
    ProbeMarks parts;
    double further = 0;
};
/// The pieces, one after another; without operations if there are none.
struct ProbePieces {
    ExecutionGraph graph;
    std::vector<ProbePiece> pieces;
};

/// A workload in which a few ranks represent all, which do the same at the same time. Collectives
/// among ranks of which some are represented take what a probe of their own measured, from when
/// their kernel is resident on. While they run, they hold their thread blocks, draw their bytes
/// from the rank's memory, and keep their buffers in its L2; they end later if kernels hold their
/// bytes up. What is missing is what collectives and messages take from each other on links.
class FoldedGraph {
public:
    /// An operation that is measured as number `index` of the pieces or of a family.
    struct Use {
        std::uint32_t rank = 0;
        std::uint32_t operation = 0;
        std::size_t index = 0;
        std::size_t family = 0;
    };
    struct Parts {
        /// Represented ranks do nothing, and `represents` says by whom. Groups have all their
        /// ranks.
        ExecutionGraph skeleton;
        std::vector<std::optional<std::uint32_t>> orbit_of;  ///< by group of the skeleton
        GroupOrbits orbits;
        /// Nothing runs beside collectives: only their time counts, and they wait for nobody.
        bool alone = false;
        std::vector<Use> pieces_of;  ///< kernels that are pieces
        ProbePieces whole;
        ProbePieces shorter;  ///< with few of the equal parts where pieces have many
    };
    explicit FoldedGraph(Parts parts);

    /// Everything that is measured, in one graph: what scenarios are checked with.
    [[nodiscard]] const ExecutionGraph& probe() const { return probe_; }
    [[nodiscard]] const ProbePieces& whole() const { return parts_.whole; }
    [[nodiscard]] const ProbePieces& shorter() const { return parts_.shorter; }
    [[nodiscard]] const std::vector<CollectiveFamily>& collectives() const { return families_; }
    [[nodiscard]] const GroupOrbits& orbits() const { return parts_.orbits; }

    /// What was measured: the time of each piece, and by family each collective.
    struct Measured {
        std::vector<Time> pieces;
        std::vector<std::vector<MeasuredCollective>> collectives;
    };
    /// As if each piece and each collective took so long, and nothing else.
    [[nodiscard]] Measured each(Time time) const;
    /// The workload; represented ranks do nothing.
    [[nodiscard]] ExecutionGraph graph(const Measured& measured) const;
    /// The graph that measures some collectives of a family.
    [[nodiscard]] ExecutionGraph family_probe(
        std::size_t family, const std::vector<std::size_t>& which, std::uint32_t ranks) const;

private:
    void find_collectives();
    void leave_represented_ranks();

    Parts parts_;
    std::vector<Use> collectives_of_;
    std::vector<CollectiveFamily> families_;
    ExecutionGraph probe_;
};

}  // namespace switchfold

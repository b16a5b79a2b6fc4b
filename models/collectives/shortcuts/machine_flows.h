// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/path_finder.h"
#include "models/collectives/shortcuts/rank_symmetry.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace switchfold {

/// Compares flows among machines, all of equally many bytes, with those of the first few machines,
/// which are kept, and notes in a fold which links and nodes resemble which. The busiest link of a
/// machine must be as busy as that of the kept machine that stands for it. Links of the network may
/// carry less or more than in the whole, if they are far from being the limit in both: two machines
/// below one leaf then stand for machines below many.
class MachineFlows {
public:
    /// Flows are among the first `machines`.
    MachineFlows(const Topology& topology, std::uint32_t machines);

    /// A flow of the whole.
    void add(const std::vector<Path>& ways) { count(ways, all_); }
    /// Whether the first `kept` machines, whose flows go along `images`, stand for all. `fold`: has
    /// its images of ranks.
    [[nodiscard]] bool
    fold_onto(std::uint32_t kept, const std::vector<std::vector<Path>>& images, RankSymmetry& fold);
    /// By how much the longest way is longer than that of the kept flows. \pre fold_onto()
    [[nodiscard]] Time farther() const {
        return std::max(all_.longest, of_kept_.longest) - of_kept_.longest;
    }
    /// ps a byte of each flow, over the busiest link. \pre fold_onto()
    [[nodiscard]] double limit() const { return busiest(hops_.front(), of_kept_); }

private:
    /// Flows of all ranks, or of the kept ones.
    struct Traffic {
        std::vector<double> over;  ///< by hop
        std::vector<double> into;  ///< by node
        Time longest;              ///< latency of its longest way
    };
    [[nodiscard]] Traffic none() const;
    void count(const std::vector<Path>& ways, Traffic& traffic) const;
    /// ps a byte of each flow.
    [[nodiscard]] double busy(std::uint32_t hop, const Traffic& traffic) const;
    [[nodiscard]] double
    busiest(const std::vector<std::uint32_t>& hops, const Traffic& traffic) const;
    /// A hop that flows go over resembles one of kept flows.
    void set(std::uint32_t hop, std::uint32_t image, RankSymmetry& fold) const;
    [[nodiscard]] bool fold_machines(std::uint32_t kept, RankSymmetry& fold) const;
    [[nodiscard]] bool fold_network(RankSymmetry& fold) const;

    const Topology& topology_;
    std::uint32_t machines_;
    std::vector<std::vector<std::uint32_t>> hops_;   ///< by machine; last: of the network
    std::vector<std::vector<std::uint32_t>> nodes_;  ///< likewise
    Traffic all_;
    Traffic of_kept_;
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/path_finder.h"
#include "models/collectives/shortcuts/rank_symmetry.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace switchfold {

/// Compares flows among machines, all of equally many bytes, with those of the first few machines,
/// which are kept, and notes in a fold which links and nodes resemble which. The busiest link of a
/// machine must be as busy as that of the kept machine that stands for it. Links of the network may
/// carry less or more than in the whole, if they are far from being the limit in both: two machines
/// below one leaf then stand for machines below many.
class MachineFlows {
public:
    /// `fold`: has its images of ranks. `kept`: machines.
    MachineFlows(const Topology& topology, RankSymmetry& fold, std::uint32_t kept);

    /// A flow along `ways` resembles that of kept ranks along `images`. `key` names the latter:
    /// several flows of the whole have the same.
    void add(const std::vector<Path>& ways, const std::vector<Path>& images, std::uint64_t key);
    /// Whether the kept machines stand for all.
    [[nodiscard]] bool finish() { return fold_machines() && fold_network(); }
    /// By how much the longest way is longer than that of the kept flows.
    [[nodiscard]] Time farther() const {
        return std::max(all_.longest, of_kept_.longest) - of_kept_.longest;
    }
    /// ps a byte of each flow, over the busiest link. \pre finish()
    [[nodiscard]] double limit() const { return busiest(hops_.front(), of_kept_); }

private:
    /// Flows of all ranks, or of the kept ones.
    struct Traffic {
        std::vector<double> over;  ///< by hop
        std::vector<double> into;  ///< by node
        Time longest;              ///< latency of its longest way
    };
    void count(const std::vector<Path>& ways, Traffic& traffic) const;
    /// ps a byte of each flow.
    [[nodiscard]] double busy(std::uint32_t hop, const Traffic& traffic) const;
    [[nodiscard]] double
    busiest(const std::vector<std::uint32_t>& hops, const Traffic& traffic) const;
    /// A hop that flows go over resembles one of kept flows.
    void set(std::uint32_t hop, std::uint32_t image);
    [[nodiscard]] bool fold_machines();
    [[nodiscard]] bool fold_network();

    const Topology& topology_;
    RankSymmetry& fold_;
    std::uint32_t kept_;
    std::vector<std::vector<std::uint32_t>> hops_;   ///< by machine; last: of the network
    std::vector<std::vector<std::uint32_t>> nodes_;  ///< likewise
    Traffic all_;
    Traffic of_kept_;
    std::set<std::uint64_t> keys_;  ///< of the kept ranks' flows
};

}  // namespace switchfold

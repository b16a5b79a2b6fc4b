// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/path_finder.h"
#include "models/collectives/shortcuts/rank_symmetry.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Compares the flows of a whole collective with those of its kept ranks, link by link, and notes
/// in a fold which links and nodes resemble which.
class FlowImages {
public:
    FlowImages(const Topology& topology, RankSymmetry& fold);

    /// A flow along `ways` resembles that of kept ranks along `images`. `key` names the latter:
    /// several flows of the whole have the same. \returns whether their links can resemble each
    /// other.
    [[nodiscard]] bool
    add(const std::vector<Path>& ways, const std::vector<Path>& images, std::uint64_t key);
    /// Whether every link carries exactly what its image carries.
    [[nodiscard]] bool finish();

private:
    [[nodiscard]] bool add(const Path& path, const Path& image, std::uint64_t use);
    [[nodiscard]] bool same_uses(std::uint32_t hop);

    const Topology& topology_;
    RankSymmetry& fold_;
    std::vector<std::vector<std::uint64_t>> uses_;          ///< by hop: flows and their ways
    std::vector<std::vector<std::uint64_t>> uses_by_kept_;  ///< likewise
    std::vector<std::uint64_t> keys_;                       ///< of kept ranks' flows, ascending
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/phases_beside.h"
#include "validation/overlap/overlap_pairs.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold::validation {

/// The communication beside kernels of a trace. How long a collective moves data comes from the
/// machine or, without a recorded size, from the shortest residence of the same collective over
/// steps and ranks; of an all-to-all without a size nothing is known.
class Collectives {
public:
    Collectives(const SystemParams& system, const OverlapTrace& trace);

    /// The communication beside a run, relative to its start.
    [[nodiscard]] std::vector<CommunicationPhase> beside(const OverlappedRun& run) const;
    /// Assumed kinds, sizes and times, one line per shape of collective.
    [[nodiscard]] std::vector<std::string> notes() const;

private:
    /// Collectives of one shape cause equal traffic.
    struct Shape {
        CollectiveKind kind;
        std::uint64_t bytes;
        std::uint32_t blocks;
        std::uint32_t threads;
        auto operator<=>(const Shape&) const = default;
    };
    [[nodiscard]] static Shape shape_of(const CollectiveOperation& operation);
    [[nodiscard]] CommunicationDraw draw_of(const CommunicationKernelSeen& kernel) const;
    void measure(const CollectiveOperation& operation);

    const SystemParams& system_;
    const OverlapTrace& trace_;
    std::uint32_t ranks_;
    std::map<Shape, CollectiveTraffic> traffic_;
    /// Shortest residence of collectives without a size, matched across steps.
    using Place = std::tuple<CollectiveKind, std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<Place, double> shortest_;
};

}  // namespace switchfold::validation

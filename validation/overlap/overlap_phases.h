// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/beside.h"
#include "validation/overlap/overlap_pairs.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold::validation {

/// The communication actually present beside a kernel: each collective's blocks while resident, and
/// its traffic while it moves data. A collective is resident from its launch on one rank, but moves
/// data only once its peers have arrived. Therefore
/// - in a ring or tree, all blocks stay to the end, and the transfer is the last part of the
///   residence; its duration comes from the machine or, without a recorded size, from the shortest
///   residence of the same collective over steps and ranks;
/// - in an all-to-all, each block serves some peers and leaves with them: after the transfer with
///   the peers present, the blocks of one late peer stay. Without a size nothing more is known.
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
    struct Draw {
        double time_us = 0;
        double bytes_per_second = 0;
        Bytes footprint;
    };
    [[nodiscard]] static Shape shape_of(const CollectiveOperation& operation);
    [[nodiscard]] Draw draw_of(const CommunicationKernelSeen& kernel) const;
    void
    add(const CommunicationKernelSeen& kernel, double start_us,
        std::vector<CommunicationPhase>& phases) const;
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

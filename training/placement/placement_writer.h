// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/placement/placement_messages.h"
#include "training/placement/planned_cut.h"
#include "training/plan/step/pass_writer.h"
#include "training/plan/step/rank_map.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// What all ranks of a division share.
struct PlacementStepParts {
    const PlannedPlacement& cut;
    const RankMap& map;
    const std::vector<PlacementMessage>& messages;
    const std::vector<double>& kept;  ///< bytes, by layer
};

/// Writes one rank's operations: the tasks of its parts in the step's order, one stream per part;
/// messages on one stream per peer; gradient reductions as soon as buckets are ready; the update.
class PlacementWriter {
public:
    PlacementWriter(
        const PlacementStepParts& parts, std::uint32_t rank, Communicators& groups,
        NameTable& names);
    [[nodiscard]] RankGraph write();

private:
    using Index = PassWriter::Index;

    [[nodiscard]] bool is_here(std::uint32_t task) const;
    [[nodiscard]] std::string stream_of(std::uint32_t part) const;
    [[nodiscard]] std::uint32_t peer(std::uint32_t gpu) const;
    /// Operations that mark the end of local tasks.
    [[nodiscard]] std::vector<Index> ends_of(const std::vector<std::uint32_t>& tasks) const;
    void task(std::uint32_t index);
    void message(const PlacementMessage& message);
    void gradients_ready(std::uint32_t layer);
    void flush();
    void update();

    const PlacementStepParts& parts_;
    std::uint32_t rank_;
    RankPlace place_;
    PassWriter writer_;
    std::vector<std::vector<Index>>
        ends_;  ///< by task; for one without kernels, the operations that it waits for
    std::vector<std::vector<Index>> received_;  ///< by task: messages that it waits for
    std::vector<std::vector<Index>> last_;      ///< by part: end of its last task
    std::vector<std::uint32_t> summed_;  ///< by layer: number of micro-batches in its gradient
    Bytes pending_;                      ///< gradients waiting for their bucket to fill
    bool any_bucket_ = false;
    std::vector<Index> made_;     ///< operations that compute them
    std::vector<Index> reduced_;  ///< collectives that the update waits for
};

}  // namespace switchfold

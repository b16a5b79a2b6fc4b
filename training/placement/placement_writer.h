// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/placement/placed_step.h"
#include "training/placement/placement_memory.h"
#include "training/placement/placement_messages.h"
#include "training/plan/step/pass_writer.h"
#include "training/plan/step/rank_map.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

/// What all ranks of a division share.
struct PlacementStepParts {
    const PlacedStep& cut;
    const RankMap& map;
    const std::vector<PlacementMessage>& messages;
    const std::vector<double>& kept;  ///< bytes, by layer
    const std::vector<RepeatedLayers>& repeated;
    std::uint32_t replica = 0;  ///< the first of the map's
    /// The kind of a rank's GPU, among all replicas of the division.
    [[nodiscard]] std::uint32_t kind_of(std::uint32_t rank) const {
        RankPlace place = map.place(rank);
        place.data += replica;
        return cut.kind(RankMap(cut.plan()).rank(place));
    }
};

/// Writes one rank's operations: the tasks of its parts in the step's order, one stream per part;
/// messages on one stream per peer; gathers of sharded weights a block ahead; gradient reductions
/// as soon as buckets are ready; the update. Layers that are repeated run before the first of their
/// gradients.
class PlacementWriter {
public:
    PlacementWriter(
        const PlacementStepParts& parts, std::uint32_t rank, Communicators& groups,
        NameTable& names);
    [[nodiscard]] RankGraph write();

private:
    using Index = PassWriter::Index;

    [[nodiscard]] std::uint32_t gpu_of(std::uint32_t layer) const;
    [[nodiscard]] bool is_here(std::uint32_t task) const;
    [[nodiscard]] std::string stream_of(std::uint32_t part) const;
    [[nodiscard]] std::uint32_t peer(std::uint32_t gpu) const;
    /// Operations that mark the end of local tasks.
    [[nodiscard]] std::vector<Index> ends_of(const std::vector<std::uint32_t>& tasks) const;
    void task(std::uint32_t index);
    /// Operations of a task, the next of which waits for these.
    struct Written {
        std::vector<Index> waits;
        std::optional<Index> first;
        std::optional<Index> last_kernel;
    };
    void layer_work(
        std::uint32_t part, TaskKind kind, std::uint32_t node, std::uint32_t chunk, Phase phase,
        Written& task);
    /// Repeats the forward of the layers with which the task's is repeated, before the first of
    /// their gradients.
    void repeat(const PlacementTask& task, std::uint32_t part, Written& written);
    void free_repeated(const PlacementTask& task, Index end);
    /// Gathers the weights of the task's block on this GPU, if no task did in this pass.
    [[nodiscard]] std::vector<Index> gather(const PlacementTask& task, std::uint32_t part);
    /// Gradients of weights that the same ranks hold: all, or those of experts.
    struct Pending {
        Bytes bytes;  ///< waiting for their bucket to fill
        bool any_bucket = false;
        std::vector<Index> made;  ///< operations that compute them
    };
    [[nodiscard]] Pending& pending(std::uint32_t layer);
    void message(const PlacementMessage& message);
    void gradients_ready(std::uint32_t layer);
    void flush(bool experts);
    void update();
    [[nodiscard]] const Team& team(bool experts) const { return teams_[experts ? 1 : 0]; }
    /// Of the layers on this GPU.
    [[nodiscard]] double parameters(bool experts) const;

    const PlacementStepParts& parts_;
    std::uint32_t rank_;
    RankPlace place_;
    std::uint32_t kind_;  ///< of its GPU
    PassWriter writer_;
    std::vector<std::vector<Index>>
        ends_;  ///< by task; for one without kernels, the operations that it waits for
    std::vector<std::vector<Index>> received_;  ///< by task: messages that it waits for
    std::vector<std::vector<Index>> last_;      ///< by part: end of its last task
    std::vector<std::uint32_t> summed_;  ///< by layer: number of micro-batches in its gradient
    std::array<Pending, 2> pending_;
    std::array<Team, 2> teams_;
    std::vector<Index> reduced_;  ///< collectives that the update waits for
    /// Block or layer, micro-batch, and whether it is forward.
    using Gathered = std::tuple<std::uint32_t, std::uint32_t, bool>;
    std::map<Gathered, std::vector<Index>> gathered_;
    std::vector<Index> before_gather_;  ///< ends at the last gather: the next one waits for them
    /// By unit of repeated layers and micro-batch: gradients of weights that are missing.
    std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> repeated_;
    std::vector<std::size_t> unit_of_;  ///< by layer: index of its repeated layers; SIZE_MAX: none
};

}  // namespace switchfold

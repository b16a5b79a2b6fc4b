// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/group_collective.h"
#include "models/collectives/symmetric/symmetric_work.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Common part of kernels on symmetric memory: blocks of workers that process piece after piece
/// directly on the users' buffers.
class SymmetricBase : public GroupCollective, protected EventHandler {
public:
    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return {}; }

protected:
    SymmetricBase(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group);

    /// A worker's piece, relative to the whole work; none: no work.
    struct Task {
        std::uint64_t number = 0;  ///< number of its earlier pieces
        Part piece;
    };
    /// Takes the worker's next piece. \returns whether there is one.
    bool take(std::uint32_t worker, Task& task);
    virtual void begin_block(std::uint32_t block) = 0;
    /// A block moves no more data from `end` on.
    void end_block(std::uint32_t block, Time end);

    /// Blocks and workers are numbered consecutively, position after position.
    [[nodiscard]] std::uint32_t first_worker(std::uint32_t block) const {
        return block * work_.workers();
    }
    [[nodiscard]] std::uint32_t block_of(std::uint32_t worker) const {
        return worker / work_.workers();
    }
    [[nodiscard]] std::uint32_t position_of_block(std::uint32_t block) const {
        return block / spec_.choice.channels;
    }
    [[nodiscard]] std::uint32_t position_of_worker(std::uint32_t worker) const {
        return position_of_block(block_of(worker));
    }
    /// The corresponding worker of another rank.
    [[nodiscard]] std::uint32_t like(std::uint32_t worker, std::uint32_t position) const {
        const std::uint32_t of_rank = spec_.choice.channels * work_.workers();
        return position * of_rank + worker % of_rank;
    }
    /// Offset of a rank's share in the buffers; 0 if ranks share the work.
    [[nodiscard]] std::uint64_t share_of(std::uint32_t position) const {
        return spec_.kind == CollectiveKind::kAllReduce ? 0 : position * share_;
    }
    /// When loads of `bytes` from its own memory have completed.
    [[nodiscard]] Time load_own(std::uint32_t position, std::uint64_t bytes) {
        const Time served = port(position).access(bytes, 0);
        return std::max(served, scheduler_.now() + params_.load_latency);
    }

    const SymmetricParams& params_;
    std::uint32_t unit_;  ///< limit on the bytes of a packet
    SymmetricMove move_;
    std::uint64_t share_;  ///< bytes of a rank's part in reduce-scatter and all-gather
    SymmetricWork work_;

private:
    std::vector<std::uint32_t> running_;  ///< number of active blocks, by position
    std::vector<Time> end_;               ///< by position
};

/// Kernels that load and store whole words, between two barriers.
[[nodiscard]] MakeCollective make_word_collective;
/// Kernels that store lines of data and flags.
[[nodiscard]] MakeCollective make_line_collective;

}  // namespace switchfold

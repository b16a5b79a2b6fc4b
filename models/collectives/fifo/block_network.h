// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/fifo/network_proxy.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/fifo/thread_block.h"
#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace switchfold {

/// How an algorithm divides a channel's data: NCCL's chunk and slice, in FIFO steps (collectives.h;
/// enqueue.cc calcCollChunking). Line protocols divide by steps.
struct ChunkShape {
    std::uint32_t steps_per_chunk = 1;
    std::uint32_t steps_per_slice = 1;
    std::uint32_t largest_unit = UINT32_MAX;  ///< limit on bytes that travel together
    std::uint32_t units_in_chunk = 32;        ///< that deep a long chunk's pipeline still is

    /// The shape for a FIFO of `steps` (>= 3) steps, which must hold two chunks and more than two
    /// slices: with less room, all blocks of a ring would wait for a free slot at the same time.
    /// NCCL's have 8 steps.
    [[nodiscard]] ChunkShape in_fifo_of(std::uint32_t steps) const {
        ChunkShape shape = *this;
        const std::uint32_t slices = steps_per_chunk / steps_per_slice;
        shape.steps_per_slice = std::clamp(steps / 2 / slices, 1U, steps_per_slice);
        shape.steps_per_chunk =
            shape.steps_per_slice * std::min(slices, steps / 2 / shape.steps_per_slice);
        return shape;
    }
    [[nodiscard]] std::uint32_t slices_per_chunk() const {
        return steps_per_chunk / steps_per_slice;
    }
};
inline constexpr ChunkShape kRingShape{4, 2};  ///< all-reduce, reduce-scatter, all-gather
inline constexpr ChunkShape kStepShape{1, 1};  ///< tree, broadcast, reduce, send and receive

/// Thread blocks of a group's members connected by FIFOs, inside and between machines: the common
/// part of ring, tree and exchange. A connection through network interfaces is handled by the
/// sender's proxy.
class BlockNetwork final : private PacketClient {
public:
    /// `chunk`: bytes of a typical chunk, which determines the transfer unit. Each channel added
    /// represents `bundle` thread blocks per member that work concurrently.
    BlockNetwork(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec, Protocol protocol,
        ChunkShape shape, std::uint64_t chunk, std::uint32_t bundle, MemberListener& listener);
    ~BlockNetwork() { context_.fabric->remove_client(context_.client); }
    BlockNetwork(const BlockNetwork&) = delete;
    BlockNetwork& operator=(const BlockNetwork&) = delete;
    BlockNetwork(BlockNetwork&&) = delete;
    BlockNetwork& operator=(BlockNetwork&&) = delete;

    /// Largest chunk of this protocol and shape.
    [[nodiscard]] static std::uint64_t
    max_chunk(const CollectiveParams& params, Protocol protocol, ChunkShape shape);
    /// Bytes of one connection's FIFO.
    [[nodiscard]] static std::uint64_t
    buffer_bytes(const CollectiveParams& params, Protocol protocol);

    /// The members at which plans' ranks stand, by rank; unless told, a rank is its own member.
    void stand_at(std::vector<std::uint32_t> members) { stand_at_ = std::move(members); }
    /// Adds one channel's blocks; a FIFO connects the block that sends from a to b with the one
    /// that receives at b. `first`: the number of the channel's first FIFO on the real machine.
    void add_channel(std::vector<BlockPlan> plans, std::uint32_t first);
    void add_channel(std::vector<BlockPlan> plans) {
        add_channel(std::move(plans), static_cast<std::uint32_t>(fifos_.size()));
    }
    /// Functional mode: each member's buffer, and the destination of its results (the same if in
    /// place).
    void
    use_buffers(std::vector<std::vector<float>>& buffers, std::vector<std::vector<float>>& results);
    /// The member's blocks may move data from `start` (>= now) on, those of the last round from
    /// `last` (>= start) on.
    void join(std::uint32_t position, Time start, Time last);
    /// Starts no further movements, and no longer calls the listener.
    void abandon();
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const;
    /// Makes the blocks count their turns in `turns`, by channel; call before adding any.
    void count_turns(PeriodDetector& turns) { context_.turns = &turns; }
    /// Of the first block; see Program.
    [[nodiscard]] std::optional<double> share_begun() const;
    /// Turns of a channel's blocks that can be skipped; see Program.
    [[nodiscard]] std::uint64_t skippable(std::uint32_t channel, std::uint64_t unit) const;
    void skip(std::uint32_t channel, std::uint64_t turns);
    [[nodiscard]] std::uint32_t wire(std::uint32_t data) const {
        return context_.transport.wire(data);
    }

private:
    /// Receives the ends of one round's blocks. Only exchanges have several rounds.
    class Round final : public BlockListener {
    public:
        Round(BlockNetwork& network, std::uint32_t index) : network_(network), index_(index) {}
        void on_block_done(std::uint32_t rank, Time end) override {
            network_.on_block_done(rank, index_, end);
        }

    private:
        BlockNetwork& network_;
        std::uint32_t index_;
    };
    struct Member {
        std::vector<std::vector<std::uint32_t>> blocks;  ///< by round
        std::unique_ptr<NetworkProxy> proxy;
        std::vector<std::uint32_t> running;  ///< number of blocks, by round
        std::uint32_t rounds = 0;            ///< unfinished ones
        Time end;
    };
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void prepare(const Packet& packet) const override;
    void on_departure(std::uint64_t tag, Time departure) override;
    void on_block_done(std::uint32_t rank, std::uint32_t round, Time end);

    /// `number`: of the FIFO on the real machine.
    std::uint32_t add_fifo(std::uint32_t from, std::uint32_t to, std::uint32_t number);
    /// The member at which a plan's rank stands.
    [[nodiscard]] std::uint32_t stand_of(std::uint32_t rank) const {
        return stand_at_.empty() ? rank : stand_at_[rank];
    }
    NetworkProxy& proxy_of(std::uint32_t member);
    /// Bytes of one slice of the protocol Simple; `cut`: the shape in the parameters' FIFO.
    [[nodiscard]] static std::uint64_t slice_bytes(const CollectiveParams& params, ChunkShape cut);
    /// The SM on which a plan's block runs.
    BlockSm& sm_of(const BlockPlan& plan);
    [[nodiscard]] std::uint32_t unit_for(std::uint64_t chunk, ChunkShape shape) const;

    const CollectiveParams& params_;
    const std::vector<RankPort*>& ports_;
    const std::vector<std::uint32_t> ranks_;
    std::vector<std::uint32_t> stand_at_;
    Protocol protocol_;
    std::uint32_t bundle_;
    MemberListener& listener_;
    BlockContext context_;
    bool abandoned_ = false;
    std::deque<BlockSm> sms_;
    std::unordered_map<std::uint64_t, BlockSm*> shared_sms_;  ///< by member and number
    std::vector<std::unique_ptr<ThreadBlock>> blocks_;
    std::vector<std::vector<std::uint32_t>> of_channel_;  ///< indices of blocks
    std::vector<std::unique_ptr<Fifo>> fifos_;
    std::vector<const ThreadBlock*>
        receivers_;  ///< receiver of each FIFO, without dereferencing it
    std::vector<Member> members_;
    std::vector<std::unique_ptr<Round>> rounds_;
};

}  // namespace switchfold

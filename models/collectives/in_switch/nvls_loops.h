// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "interconnect/values.h"
#include "models/collectives/in_switch/nvls_chunks.h"
#include "models/collectives/in_switch/nvls_state.h"
#include "models/collectives/parameters.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/shortcuts/period_detector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// What the loops leave to the collective: how a head gets its sums and how they reach all members.
class NvlsLoopsListener {
public:
    /// The member's block of this channel is resident and may begin.
    virtual void on_joined(std::uint32_t member, std::uint32_t channel) = 0;
    /// The head has seen that all members posted the loop of its next piece: it may ask for the
    /// sums.
    virtual void on_piece_due(std::uint32_t member, std::uint32_t channel) = 0;
    /// All members have posted one more loop, for which this head does not poll.
    virtual void on_posted(std::uint32_t /*member*/, std::uint32_t /*channel*/) {}
    /// All members are through with a loop: its slot of the pipeline is free.
    virtual void on_freed(std::uint32_t channel) = 0;
    /// The member is through with its last loop of the channel.
    virtual void on_channel_done(std::uint32_t member, std::uint32_t channel) = 0;

protected:
    ~NvlsLoopsListener() = default;
};

/// The loops of NCCL's NVLS kernels inside one switch domain (device/all_reduce.h,
/// reduce_scatter.h, all_gather.h). Per channel, in a pipeline of several loops, groups of warps of
/// each member's block work side by side:
/// - scatter: copy the own buffer into the multicast buffer, a head's piece after the other; fence;
///   post the own counter.
/// - reduce: poll, through the switch, the least of all members' counters; then the sums of the
///   head's own piece, which are the listener's business.
/// - gather: when all heads' sums are at all members, copy the result out, a piece after the other.
///   That frees the slot of the pipeline.
class NvlsLoops final : private EventHandler {
public:
    struct Machine {
        Scheduler& scheduler;
        const CollectiveParams& params;
        std::vector<RankPort*> ports;  ///< by member
        Time to_root;                  ///< a member to the root of the reduction
        std::uint32_t each = 1;        ///< heads that each of these stands for
        OperandFormat format = {};     ///< of what is copied to where switches read, and back
    };
    /// `warps` by channel. `copies`: false for registered buffers, which nobody copies.
    NvlsLoops(
        Machine machine, const NvlsChunks& pieces, const std::vector<NvlsCopyWarps>& warps,
        bool copies, NvlsLoopsListener& listener);

    [[nodiscard]] NvlsBlock& block(std::uint32_t member, std::uint32_t channel) {
        return blocks_[std::size_t{member} * channels_.size() + channel];
    }
    [[nodiscard]] const NvlsBlock& block(std::uint32_t member, std::uint32_t channel) const {
        return blocks_[std::size_t{member} * channels_.size() + channel];
    }
    [[nodiscard]] NvlsChannel& channel(std::uint32_t c) { return channels_[c]; }
    [[nodiscard]] std::uint32_t channels() const {
        return static_cast<std::uint32_t>(channels_.size());
    }
    /// Channels that have work.
    [[nodiscard]] std::uint32_t busy_channels() const;

    /// The listener hears of it at `start`.
    void join(std::uint32_t member, std::uint32_t channel, Time start);
    /// The scattering warps begin their next loop, if its slot is free.
    void scatter(std::uint32_t member, std::uint32_t channel);
    /// The head turns to its next piece: it polls, unless it has seen that piece posted.
    void await_piece(std::uint32_t member, std::uint32_t channel);
    /// The head has all sums of its piece. \returns its loop.
    std::uint64_t end_piece(std::uint32_t member, std::uint32_t channel);
    /// A head begins to store final values: `bytes` over all members.
    void
    expect(std::uint32_t channel, std::uint64_t loop, std::uint32_t head, std::uint64_t bytes) {
        channels_[channel].slot(loop).missing[head] = bytes;
    }
    /// So many of them will not come: they were left out.
    void
    leave_out(std::uint32_t channel, std::uint64_t loop, std::uint32_t head, std::uint64_t bytes) {
        channels_[channel].slot(loop).missing[head] -= bytes;
    }
    /// And has stored the last of them.
    void end_store(std::uint32_t member, std::uint32_t channel);
    /// Some of them are in a member's memory.
    void delivered(
        std::uint32_t channel, std::uint32_t slot, std::uint32_t head, std::uint64_t bytes,
        Time visible);
    /// The member is through with this loop, where it does not gather.
    void end_loop(std::uint32_t member, std::uint32_t channel, std::uint64_t loop);

    /// Every block counts its loops here, by channel: those that have ended, its stores if
    /// `stores`, and both groups of the reducing half if `reduces`. Before any joins.
    void count_turns(PeriodDetector& turns, bool stores, bool reduces);
    /// Loops of the channel that nobody has begun, but for the last.
    [[nodiscard]] std::uint64_t skippable(std::uint32_t channel) const;
    /// The pieces have left out so many of them.
    void skip(std::uint32_t channel, std::uint64_t loops) { channels_[channel].loops -= loops; }
    /// Tells nothing more.
    void abandon() { abandoned_ = true; }
    [[nodiscard]] bool quiet() const { return scheduled_ == 0; }
    /// What members' channels wait for, at most `limit` lines.
    [[nodiscard]] std::vector<std::string>
    blocked(const std::vector<std::uint32_t>& ranks, std::size_t limit) const;

private:
    enum class Stage : std::uint8_t { kJoin, kScatter, kPosted, kReduce, kSums, kGather };
    /// What a block has in the log of turns, in this order; the second only if stores count.
    enum class Turning : std::uint8_t { kEnded, kStored, kScattered, kReduced };
    void on_event(std::uint64_t tag) override;
    void post(Stage stage, std::uint32_t member, std::uint32_t channel, Time due);
    void note_turn(const NvlsBlock& block, Turning part);
    /// Pieces that a group of warps copies in a loop.
    [[nodiscard]] std::uint32_t pieces_in(std::uint32_t channel, std::uint64_t loop) const {
        return copies_ ? pieces_.working_heads(channel, loop) : 1;
    }
    void copy_piece(std::uint32_t member, std::uint32_t channel, bool gather);
    void end_scatter(std::uint32_t member, std::uint32_t channel);
    void on_posted(std::uint32_t channel);
    void answer_poll(std::uint32_t member, std::uint32_t channel);
    void end_poll(std::uint32_t member, std::uint32_t channel);
    void gather(std::uint32_t member, std::uint32_t channel);
    void end_gather(std::uint32_t member, std::uint32_t channel);

    Scheduler& scheduler_;
    const CollectiveParams& params_;
    std::vector<RankPort*> ports_;
    Time to_root_;
    std::uint32_t each_;
    OperandFormat format_;
    const NvlsChunks& pieces_;
    bool copies_;
    NvlsLoopsListener& listener_;
    bool abandoned_ = false;
    std::uint64_t scheduled_ = 0;  ///< events that are still to come
    PeriodDetector* turns_ = nullptr;
    bool counts_stores_ = false;
    std::vector<NvlsChannel> channels_;
    std::vector<NvlsBlock> blocks_;
};

}  // namespace switchfold

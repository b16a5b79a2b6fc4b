// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace switchfold {

class KeptMachines;
class ThreadBlock;
struct Transport;

/// Turns at the end of a program that are never skipped.
inline constexpr std::uint64_t kLastTurns = 2;

/// Width in bytes of the loads and stores of collectives' thread blocks; data are divided in this
/// unit.
inline constexpr std::uint64_t kGrain = 16;

/// Most peers from or to which a thread block receives or sends in one step: NCCL's trees have
/// arity 3.
inline constexpr std::size_t kMaxPeers = 3;

/// One primitive of a thread block, in NCCL's terms: recvReduceSend receives from the `receive`
/// peers, reduces with the rank's own buffer, and sends on. Peers are bits: bit i is the thread
/// block's i-th connection in that direction.
struct Step {
    std::uint64_t offset = 0;  ///< byte offset in the user's buffer
    std::uint64_t bytes = 0;
    std::uint8_t receive = 0;
    std::uint8_t send = 0;
    bool load = false;   ///< reads the rank's own buffer (first send, reductions)
    bool store = false;  ///< writes the rank's own buffer
    /// The rank's own data come from or go to another stage of the collective, without memory
    /// traffic; the program says when they can move.
    bool staged = false;
    // Of programs from files (docs/programs.md):
    bool adds = false;       ///< what is stored is added to what lies there
    bool gated = false;      ///< begins when its program says
    bool told = false;       ///< its program hears of its end
    bool aside = false;      ///< its program moves it, not the block
    std::int64_t shift = 0;  ///< from the byte that is loaded to the one that is stored
};

/// The steps of one thread block, generated on demand: with 4,096 ranks, a ring has 8,190 per loop.
class Program {
public:
    virtual ~Program() = default;
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    Program(Program&&) = delete;
    Program& operator=(Program&&) = delete;
    /// \returns the next step, or nothing at the end. Steps never have zero bytes.
    virtual std::optional<Step> next() = 0;
    /// For the staged step issued last: earliest time (ps) at which bytes [done, done + bytes) can
    /// move, or kNotYet; in that case the program wakes its block later.
    [[nodiscard]] virtual std::uint64_t available(std::uint64_t /*done*/, std::uint64_t /*bytes*/) {
        return 0;
    }
    /// For the gated step issued last: earliest time (ps) at which it can begin, or kNotYet; in
    /// that case the program wakes its block later.
    [[nodiscard]] virtual std::uint64_t may_begin() { return 0; }
    /// For a step that tells: it has ended at `end` (ps).
    virtual void ended(std::uint64_t /*end*/) {}
    /// For the step issued last, which it moves itself from `start` (ps) on: the block hears of its
    /// end by end_aside().
    virtual void move_aside(std::uint64_t /*start*/) {}
    /// Reports that these bytes move now.
    virtual void moved(std::uint64_t /*done*/, std::uint64_t /*bytes*/) {}
    virtual void attach(ThreadBlock& /*block*/) {}
    /// Whether the step issued last begins a turn: the unit of repetition in a periodic motion.
    [[nodiscard]] virtual bool begins_turn() const { return true; }
    /// Share of the bytes that it has begun to move; nothing if it does not tell.
    [[nodiscard]] virtual std::optional<double> share_begun() const { return std::nullopt; }
    /// Number of turns per period; turns within a period may differ slightly.
    [[nodiscard]] virtual std::uint64_t cycle() const { return 1; }
    /// Number of turns from the next one on that can be skipped in multiples of `unit`, such that
    /// later turns have the same sizes and the last ones are kept.
    [[nodiscard]] virtual std::uint64_t
    skippable(std::uint64_t /*unit*/, const Transport& /*transport*/) const {
        return 0;
    }
    /// Skips this many turns.
    virtual void skip(std::uint64_t /*turns*/) {}

    static constexpr std::uint64_t kNotYet = UINT64_MAX;
};

/// All warps of a ring's block, in the units of BlockPlan::warps.
inline constexpr std::uint32_t kAllWarps = 80;
/// Shares of a tree's thread block, in units of which a ring's block has kAllWarps: some warps
/// reduce upwards, the others copy downwards.
struct WarpSplit {
    std::uint32_t up = kAllWarps / 2;
    std::uint32_t down = kAllWarps / 2;
};

/// The number of no SM: the block has one of its own.
inline constexpr std::uint32_t kOwnSm = UINT32_MAX;

/// A thread block of one rank before it runs: its program, and the peers behind the bits of its
/// steps.
struct BlockPlan {
    std::uint32_t rank = 0;  ///< position in the group
    std::uint32_t channel = 0;
    std::uint32_t round =
        0;  ///< exchange: in round k a rank serves those k places away, in round 0 itself
    /// The SM of the rank on which it runs; blocks of a rank with the same number share it.
    std::uint32_t sm = kOwnSm;
    std::uint32_t warps = kAllWarps;  ///< of a ring's block, hence of its rate
    bool staged =
        false;  ///< shares its SM with another stage, at this rate; 0: at the other stage's rate
    Bandwidth stage_rate;
    std::vector<std::uint32_t> receive_from;  ///< positions in the group
    std::vector<std::uint32_t> send_to;
    std::unique_ptr<Program> program;
};

/// Creates the program of a block that applies `shape` to all its data.
using StreamMaker = std::function<std::unique_ptr<Program>(std::uint32_t rank, const Step& shape)>;

/// The part [begin, begin + bytes) of a buffer that a channel works on; a multiple of kGrain.
struct Part {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
};
[[nodiscard]] Part part_of_channel(
    std::uint64_t bytes, std::uint32_t channels, std::uint32_t channel, std::uint64_t grain);

/// Ring all-reduce (NCCL device/all_reduce.h runRing): reduce-scatter and all-gather in 2(N-1)
/// sends. `order`: this channel's ring, as positions in the group.
[[nodiscard]] std::vector<BlockPlan> plan_ring_all_reduce(
    const std::vector<std::uint32_t>& order, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, std::uint64_t grain);
/// The program of the rank at `place` of a ring of `ranks`.
[[nodiscard]] std::unique_ptr<Program> ring_all_reduce_program(
    std::size_t place, std::size_t ranks, Part part, std::uint64_t max_chunk, std::uint64_t grain);

[[nodiscard]] std::vector<BlockPlan> plan_ring_reduce_scatter(
    const std::vector<std::uint32_t>& order, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, std::uint64_t stride);
[[nodiscard]] std::vector<BlockPlan> plan_ring_all_gather(
    const std::vector<std::uint32_t>& order, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, std::uint64_t stride);
/// Broadcast along the ring from `root`.
[[nodiscard]] std::vector<BlockPlan> plan_ring_broadcast(
    const std::vector<std::uint32_t>& order, std::uint32_t root, std::uint32_t channel, Part part,
    std::uint64_t max_chunk);
/// Reduce along the ring to `root`.
[[nodiscard]] std::vector<BlockPlan> plan_ring_reduce(
    const std::vector<std::uint32_t>& order, std::uint32_t root, std::uint32_t channel, Part part,
    std::uint64_t max_chunk);

/// Marks the root of a tree.
inline constexpr std::uint32_t kNoParent = UINT32_MAX;

/// Reduces up a tree and broadcasts down it; parent[r] is r's parent, kNoParent for the root, r
/// itself if r does not take part. Two thread blocks per rank, each at a share of the rate: NCCL
/// splits the warps of one (runTreeSplit).
[[nodiscard]] std::vector<BlockPlan> plan_tree_all_reduce(
    const std::vector<std::uint32_t>& parent, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, WarpSplit split);

/// The same blocks, with programs supplied by the caller.
[[nodiscard]] std::vector<BlockPlan> plan_tree(
    const std::vector<std::uint32_t>& parent, std::uint32_t channel, WarpSplit split,
    const StreamMaker& make);

/// The part that a channel moves of what one rank has for another; nothing: no thread block does.
using PartOfPair = std::function<std::optional<Part>(std::uint32_t from, std::uint32_t to)>;

/// Direct exchange (NCCL's grouped send and receive): blocks of `stride` bytes; block b of rank r
/// becomes block r of rank b, as far as they are filled. One thread block per pair and direction,
/// and one that copies block r of rank r.
[[nodiscard]] std::vector<BlockPlan> plan_all_to_all(
    std::uint32_t ranks, std::uint32_t channel, const PartOfPair& part_of, std::uint64_t stride,
    std::uint64_t max_chunk);

/// The same of equal parts, on the kept ranks of a folded exchange: each serves all `ranks`, in as
/// many rounds, by means of those that stand for them.
[[nodiscard]] std::vector<BlockPlan> plan_kept_all_to_all(
    const KeptMachines& machines, std::uint32_t ranks, std::uint32_t channel, Part part,
    std::uint64_t stride, std::uint64_t max_chunk);

/// One rank sends, another receives (positions).
[[nodiscard]] std::vector<BlockPlan> plan_send_receive(
    std::uint32_t sender, std::uint32_t receiver, std::uint32_t channel, Part part,
    std::uint64_t max_chunk);

/// Every rank sends the part to the next rank.
[[nodiscard]] std::vector<BlockPlan>
plan_shift(std::uint32_t ranks, std::uint32_t channel, Part part, std::uint64_t max_chunk);

/// Block r of `stride` bytes goes from rank r to the root, or with `scatter` from the root to rank
/// r.
[[nodiscard]] std::vector<BlockPlan> plan_gather(
    std::uint32_t ranks, std::uint32_t root, bool scatter, std::uint32_t channel, Part part,
    std::uint64_t stride, std::uint64_t max_chunk);

/// Repeats one step over a part in chunks.
class StreamProgram final : public Program {
public:
    StreamProgram(Step shape, Part part, std::uint64_t max_chunk) :
        shape_(shape), part_(part), max_chunk_(max_chunk) {}
    std::optional<Step> next() override;
    [[nodiscard]] std::uint64_t
    skippable(std::uint64_t unit, const Transport& transport) const override;
    void skip(std::uint64_t turns) override { done_ += turns * max_chunk_; }
    [[nodiscard]] std::optional<double> share_begun() const override {
        return std::min(1.0, static_cast<double>(done_) / static_cast<double>(part_.bytes));
    }

private:
    Step shape_;
    Part part_;
    std::uint64_t max_chunk_;
    std::uint64_t done_ = 0;
};

}  // namespace switchfold

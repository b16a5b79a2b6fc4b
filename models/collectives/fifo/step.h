// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace switchfold {

class ThreadBlock;
struct Transport;

/// Turns at the end of a program that are never left out.
inline constexpr std::uint64_t kLastTurns = 2;

/// Loads and stores of collectives' thread blocks are 16 bytes wide; data are divided in these.
inline constexpr std::uint64_t kGrain = 16;

/// Most peers a thread block receives from or sends to in one step: NCCL's trees have arity 3.
inline constexpr std::size_t kMaxPeers = 3;

/// One primitive of a thread block, in NCCL's terms: recvReduceSend receives from `receive` peers,
/// reduces with the own buffer, and sends on. Peers are bits: bit i is the thread block's i-th
/// connection of that direction.
struct Step {
    std::uint64_t offset = 0;  ///< into the user's buffer, bytes
    std::uint64_t bytes = 0;
    std::uint8_t receive = 0;
    std::uint8_t send = 0;
    bool load = false;   ///< reads the own buffer (first send, reductions)
    bool store = false;  ///< writes the own buffer
    /// The own data comes from or goes to another stage of the collective: it costs no memory
    /// traffic, and the program says when it can.
    bool staged = false;
};

/// The steps of one thread block, made on demand: a ring of 4,096 ranks has 8,190 of them a loop.
class Program {
public:
    virtual ~Program() = default;
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    Program(Program&&) = delete;
    Program& operator=(Program&&) = delete;
    /// \returns the next step, or nothing at the end. Steps of zero bytes never come.
    virtual std::optional<Step> next() = 0;
    /// Of the staged step that came last: when (ps) the `bytes` after its first `done` can move;
    /// kNotYet while that is not known: then the program wakes its block.
    [[nodiscard]] virtual std::uint64_t available(std::uint64_t /*done*/, std::uint64_t /*bytes*/) {
        return 0;
    }
    /// They move, now.
    virtual void moved(std::uint64_t /*done*/, std::uint64_t /*bytes*/) {}
    virtual void attach(ThreadBlock& /*block*/) {}
    /// Whether the step that came last begins a turn: steps alike, or what is done over and over.
    [[nodiscard]] virtual bool begins_turn() const { return true; }
    /// Turns after which it does the same again; turns within a cycle may differ a little.
    [[nodiscard]] virtual std::uint64_t cycle() const { return 1; }
    /// Of the turns to come, those in a row from the next on that can be left out, since as many
    /// that are cut alike, and the last ones, remain; if they are left out in multiples of `unit`.
    [[nodiscard]] virtual std::uint64_t
    skippable(std::uint64_t /*unit*/, const Transport& /*transport*/) const {
        return 0;
    }
    /// Leaves out so many of them.
    virtual void skip(std::uint64_t /*turns*/) {}

    static constexpr std::uint64_t kNotYet = UINT64_MAX;
};

inline constexpr std::uint32_t kAllWarps = 10;
/// Shares of a tree's thread block, in tenths of its warps: some reduce up, the others copy down.
struct WarpSplit {
    std::uint32_t up = 5;
    std::uint32_t down = 5;
};

/// A thread block of one rank before it runs: its program and the peers behind the bits of its
/// steps.
struct BlockPlan {
    std::uint32_t rank = 0;  ///< position in the group
    std::uint32_t channel = 0;
    std::uint32_t round = 0;  ///< of an exchange: in round k a rank serves those k places away, in
                              ///< round 0 itself
    std::uint32_t warps = kAllWarps;  ///< tenths of a block's warps, and so of its rate
    bool staged = false;  ///< works beside another stage, at this rate; 0: at that stage's own
    Bandwidth stage_rate;
    std::vector<std::uint32_t> receive_from;  ///< positions in the group
    std::vector<std::uint32_t> send_to;
    std::unique_ptr<Program> program;
};

/// Makes the program of a block that does `shape` over whatever it works on.
using StreamMaker = std::function<std::unique_ptr<Program>(std::uint32_t rank, const Step& shape)>;

/// The part [begin, begin + bytes) of a buffer that a channel works on, in grains.
struct Part {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
};
[[nodiscard]] Part part_of_channel(
    std::uint64_t bytes, std::uint32_t channels, std::uint32_t channel, std::uint64_t grain);

/// Ring all-reduce (NCCL device/all_reduce.h runRing): reduce-scatter and all-gather in 2(N-1)
/// sends. `order` is the ring of this channel, as positions in the group.
[[nodiscard]] std::vector<BlockPlan> plan_ring_all_reduce(
    const std::vector<std::uint32_t>& order,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk,
    std::uint64_t grain);
/// The program of the rank at `place` of such a ring of `ranks`.
[[nodiscard]] std::unique_ptr<Program> ring_all_reduce_program(
    std::size_t place, std::size_t ranks, Part part, std::uint64_t max_chunk, std::uint64_t grain);

[[nodiscard]] std::vector<BlockPlan> plan_ring_reduce_scatter(
    const std::vector<std::uint32_t>& order,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk,
    std::uint64_t stride);
[[nodiscard]] std::vector<BlockPlan> plan_ring_all_gather(
    const std::vector<std::uint32_t>& order,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk,
    std::uint64_t stride);
/// Broadcast along the ring from `root`.
[[nodiscard]] std::vector<BlockPlan> plan_ring_broadcast(
    const std::vector<std::uint32_t>& order,
    std::uint32_t root,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk);
/// Reduce along the ring to `root`.
[[nodiscard]] std::vector<BlockPlan> plan_ring_reduce(
    const std::vector<std::uint32_t>& order,
    std::uint32_t root,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk);

/// No parent: the root of a tree.
inline constexpr std::uint32_t kNoParent = UINT32_MAX;

/// Reduce up a tree and broadcast down it; parent[r] is r's parent, kNoParent at the root, r itself
/// where r takes no part. Two thread blocks a rank, each at a share of the rate: NCCL splits the
/// warps of one (runTreeSplit).
[[nodiscard]] std::vector<BlockPlan> plan_tree_all_reduce(
    const std::vector<std::uint32_t>& parent,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk,
    WarpSplit split);

/// The same blocks with programs of the caller's.
[[nodiscard]] std::vector<BlockPlan> plan_tree(
    const std::vector<std::uint32_t>& parent,
    std::uint32_t channel,
    WarpSplit split,
    const StreamMaker& make);

/// Direct exchange (NCCL's grouped send and receive): blocks of `stride` bytes, block b of rank r
/// becomes block r of rank b. A thread block for each pair and direction, and one that copies block
/// r of rank r.
[[nodiscard]] std::vector<BlockPlan> plan_all_to_all(
    std::uint32_t ranks,
    std::uint32_t channel,
    Part part,
    std::uint64_t stride,
    std::uint64_t max_chunk);

/// One rank sends, another receives (positions).
[[nodiscard]] std::vector<BlockPlan> plan_send_receive(
    std::uint32_t sender,
    std::uint32_t receiver,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk);

/// Every rank sends the part to the next.
[[nodiscard]] std::vector<BlockPlan>
plan_shift(std::uint32_t ranks, std::uint32_t channel, Part part, std::uint64_t max_chunk);

/// Block r, of `stride` bytes, goes from rank r to the root, or with `scatter` back.
[[nodiscard]] std::vector<BlockPlan> plan_gather(
    std::uint32_t ranks,
    std::uint32_t root,
    bool scatter,
    std::uint32_t channel,
    Part part,
    std::uint64_t stride,
    std::uint64_t max_chunk);

/// The same step over a part in chunks.
class StreamProgram final : public Program {
public:
    StreamProgram(Step shape, Part part, std::uint64_t max_chunk) :
        shape_(shape), part_(part), max_chunk_(max_chunk) {}
    std::optional<Step> next() override;
    [[nodiscard]] std::uint64_t
    skippable(std::uint64_t unit, const Transport& transport) const override;
    void skip(std::uint64_t turns) override { done_ += turns * max_chunk_; }

private:
    Step shape_;
    Part part_;
    std::uint64_t max_chunk_;
    std::uint64_t done_ = 0;
};

}  // namespace switchfold

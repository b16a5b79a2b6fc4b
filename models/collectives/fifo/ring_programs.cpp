// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/fifo/fifo.h"
#include "models/collectives/fifo/step.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint8_t kPeer = 1;  // a ring has one peer in each direction

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t grain) {
    return (value + grain - 1) / grain * grain;
}

/// Divides a buffer of `part.bytes` into loops of N chunks: NCCL's last loop divides the rest
/// evenly, in grains.
class LoopChunks {
public:
    LoopChunks(Part part, std::uint64_t ranks, std::uint64_t max_chunk, std::uint64_t grain) :
        part_(part), ranks_(ranks), max_chunk_(max_chunk), grain_(grain) {
        start_loop();
    }
    /// The existing part of chunk `index` in this loop.
    [[nodiscard]] Part chunk(std::uint64_t index) const {
        const std::uint64_t begin = std::min(done_ + index * chunk_, part_.bytes);
        const std::uint64_t end = std::min(done_ + (index + 1) * chunk_, part_.bytes);
        return {part_.begin + begin, end - begin};
    }
    [[nodiscard]] bool finished() const { return done_ >= part_.bytes; }
    /// Number of later loops with equally large chunks, except the last.
    [[nodiscard]] std::uint64_t whole_loops() const {
        const std::uint64_t loop = ranks_ * max_chunk_;
        const std::uint64_t left = part_.bytes - std::min(done_ + ranks_ * chunk_, part_.bytes);
        return chunk_ < max_chunk_ ? 0 : left / loop - std::min<std::uint64_t>(left / loop, 1);
    }
    /// Share of the part in earlier loops, and in a share of this one.
    [[nodiscard]] double share_begun(double of_loop) const {
        const double here = of_loop * static_cast<double>(ranks_ * chunk_);
        return std::min(
            1.0, (static_cast<double>(done_) + here) / static_cast<double>(part_.bytes));
    }
    void skip_loops(std::uint64_t loops) { done_ += loops * ranks_ * max_chunk_; }
    /// Whether all chunks of this loop have equally many slices.
    [[nodiscard]] bool even(const Transport& transport) const {
        return transport.slices(chunk_) == transport.slices(chunk(ranks_ - 1).bytes);
    }
    void next_loop() {
        done_ += ranks_ * chunk_;
        if (!finished())
            start_loop();
    }

private:
    void start_loop() {
        const std::uint64_t left = part_.bytes - done_;
        chunk_ = std::min(max_chunk_, rounded_up((left + ranks_ - 1) / ranks_, grain_));
    }
    Part part_;
    std::uint64_t ranks_;
    std::uint64_t max_chunk_;
    std::uint64_t grain_;
    std::uint64_t done_ = 0;
    std::uint64_t chunk_ = 0;
};

/// Number of steps from `next` on that are like their neighbours: up to the end of the current half
/// (of `half` steps), except the last kLastTurns. None after `last`, the loop's last step that
/// sends: from there on a block only waits for data in flight.
std::uint64_t steps_left(std::uint64_t next, std::uint64_t half, std::uint64_t last) {
    if (next < 2 || next > last)
        return 0;
    const std::uint64_t end = (next + half - 1) / half * half;
    return end - std::min(end, next + kLastTurns);
}

class RingAllReduce final : public Program {
public:
    RingAllReduce(std::uint64_t place, std::uint64_t ranks, const LoopChunks& chunks) :
        place_(place), ranks_(ranks), chunks_(chunks) {}

    std::optional<Step> next() override {
        while (!chunks_.finished()) {
            if (step_ == 2 * ranks_ - 1) {
                chunks_.next_loop();
                step_ = 0;
                continue;
            }
            const Step step = make(step_++);
            if (step.bytes > 0)
                return step;
        }
        return std::nullopt;
    }
    /// One turn per sent step: the first step of a loop shares a turn with the last step of the
    /// previous loop, which only receives.
    [[nodiscard]] bool begins_turn() const override { return step_ != 1; }
    [[nodiscard]] std::uint64_t cycle() const override {
        return std::max<std::uint64_t>(1, 2 * ranks_ - 2);
    }
    [[nodiscard]] std::optional<double> share_begun() const override {
        return chunks_.share_begun(
            static_cast<double>(step_) / static_cast<double>(2 * ranks_ - 1));
    }
    [[nodiscard]] std::uint64_t
    skippable(std::uint64_t unit, const Transport& transport) const override {
        if (unit % cycle() == 0)
            return chunks_.whole_loops() * cycle();
        return chunks_.even(transport) ? steps_left(step_, ranks_ - 1, cycle()) : 0;
    }
    void skip(std::uint64_t turns) override {
        if (turns % cycle() == 0)
            chunks_.skip_loops(turns / cycle());
        else
            step_ += turns;
    }

private:
    [[nodiscard]] Step make(std::uint64_t i) const {
        const std::uint64_t n = ranks_;
        // Chunk order of the ring: each step works on the chunk before that of the previous step.
        const std::uint64_t from = place_ + 2 * n - 1 - i;  // < 3 n
        const Part part = chunks_.chunk(from >= 2 * n ? from - 2 * n : from >= n ? from - n : from);
        Step step{part.begin, part.bytes, 0, 0, false, false};
        step.receive = i > 0 ? kPeer : 0;
        step.send = i < 2 * n - 2 ? kPeer : 0;
        step.load = i < n;        // send, recvReduceSend, recvReduceCopySend
        step.store = i >= n - 1;  // recvReduceCopySend, recvCopySend, recv
        return step;
    }
    std::uint64_t place_;
    std::uint64_t ranks_;
    LoopChunks chunks_;
    std::uint64_t step_ = 0;
};

/// Reduce-scatter and all-gather work on N blocks of `stride` bytes: block b belongs to the rank at
/// place b of `owner`.
class RingHalf final : public Program {
public:
    RingHalf(
        std::uint64_t place, std::shared_ptr<const std::vector<std::uint32_t>> order, Part part,
        std::uint64_t max_chunk, std::uint64_t stride, bool reduce) :
        place_(place),
        order_(std::move(order)),
        part_(part),
        max_chunk_(max_chunk),
        stride_(stride),
        reduce_(reduce) {}

    std::optional<Step> next() override {
        while (done_ < part_.bytes) {
            const std::uint64_t bytes = std::min(max_chunk_, part_.bytes - done_);
            const std::uint64_t n = order_->size();
            if (step_ == n) {
                done_ += bytes;
                step_ = 0;
                continue;
            }
            const std::uint64_t i = step_++;
            const std::uint64_t shift = reduce_ ? 2 * n - 1 - i : n - i;
            const std::uint64_t owner = (*order_)[(place_ + shift) % n];
            Step step{owner * stride_ + part_.begin + done_, bytes, 0, 0, false, false};
            step.receive = i > 0 ? kPeer : 0;
            step.send = i + 1 < n ? kPeer : 0;
            step.load = reduce_ || i == 0;
            step.store = reduce_ ? i + 1 == n : i > 0;
            return step;
        }
        return std::nullopt;
    }
    [[nodiscard]] bool begins_turn() const override { return step_ != 1; }
    [[nodiscard]] std::uint64_t cycle() const override {
        return std::max<std::uint64_t>(1, order_->size() - 1);
    }
    [[nodiscard]] std::optional<double> share_begun() const override {
        const double here = static_cast<double>(max_chunk_) * static_cast<double>(step_) /
                            static_cast<double>(order_->size());
        return std::min(
            1.0, (static_cast<double>(done_) + here) / static_cast<double>(part_.bytes));
    }
    [[nodiscard]] std::uint64_t
    skippable(std::uint64_t unit, const Transport& /*transport*/) const override {
        if (unit % cycle() != 0)
            return steps_left(step_, order_->size() - 1, cycle());
        const std::uint64_t loops = (part_.bytes - std::min(done_, part_.bytes)) / max_chunk_;
        return (loops - std::min(loops, kLastTurns)) * cycle();
    }
    void skip(std::uint64_t turns) override {
        if (turns % cycle() == 0)
            done_ += turns / cycle() * max_chunk_;
        else
            step_ += turns;
    }

private:
    std::uint64_t place_;
    std::shared_ptr<const std::vector<std::uint32_t>> order_;  ///< shared by all blocks
    Part part_;
    std::uint64_t max_chunk_;
    std::uint64_t stride_;
    bool reduce_;
    std::uint64_t done_ = 0;
    std::uint64_t step_ = 0;
};

template <class MakeProgram>
std::vector<BlockPlan>
plan_ring(const std::vector<std::uint32_t>& order, std::uint32_t channel, MakeProgram make) {
    const std::size_t n = order.size();
    std::vector<BlockPlan> plans;
    plans.reserve(n);
    for (std::size_t place = 0; place < n; ++place) {
        BlockPlan plan;
        plan.rank = order[place];
        plan.channel = channel;
        // A single rank is its own neighbour: nothing moves, and there is no route to itself.
        if (n > 1) {
            plan.receive_from = {order[(place + n - 1) % n]};
            plan.send_to = {order[(place + 1) % n]};
        }
        plan.program = make(place);
        plans.push_back(std::move(plan));
    }
    return plans;
}

}  // namespace

Part part_of_channel(
    std::uint64_t bytes, std::uint32_t channels, std::uint32_t channel, std::uint64_t grain) {
    const std::uint64_t share = rounded_up((bytes + channels - 1) / channels, grain);
    const std::uint64_t begin = std::min(bytes, share * channel);
    return {begin, std::min(bytes - begin, share)};
}

std::vector<BlockPlan> plan_ring_all_reduce(
    const std::vector<std::uint32_t>& order, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, std::uint64_t grain) {
    return plan_ring(order, channel, [&](std::size_t place) {
        return ring_all_reduce_program(place, order.size(), part, max_chunk, grain);
    });
}

std::unique_ptr<Program> ring_all_reduce_program(
    std::size_t place, std::size_t ranks, Part part, std::uint64_t max_chunk, std::uint64_t grain) {
    return std::make_unique<RingAllReduce>(place, ranks, LoopChunks(part, ranks, max_chunk, grain));
}

std::vector<BlockPlan> plan_ring_reduce_scatter(
    const std::vector<std::uint32_t>& order, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, std::uint64_t stride) {
    const auto shared = std::make_shared<const std::vector<std::uint32_t>>(order);
    return plan_ring(order, channel, [&](std::size_t place) {
        return std::make_unique<RingHalf>(place, shared, part, max_chunk, stride, true);
    });
}

std::vector<BlockPlan> plan_ring_all_gather(
    const std::vector<std::uint32_t>& order, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, std::uint64_t stride) {
    const auto shared = std::make_shared<const std::vector<std::uint32_t>>(order);
    return plan_ring(order, channel, [&](std::size_t place) {
        return std::make_unique<RingHalf>(place, shared, part, max_chunk, stride, false);
    });
}

namespace {

/// Blocks along a ring cut before `first`: rank `first` has no predecessor, the last rank no
/// successor.
template <class MakeShape>
std::vector<BlockPlan> plan_line(
    const std::vector<std::uint32_t>& order, std::size_t first, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, MakeShape make_shape) {
    const std::size_t n = order.size();
    std::vector<BlockPlan> plans;
    plans.reserve(n);
    for (std::size_t place = 0; place < n; ++place) {
        BlockPlan plan;
        plan.rank = order[(first + place) % n];
        plan.channel = channel;
        if (place > 0)
            plan.receive_from = {order[(first + place - 1) % n]};
        if (place + 1 < n)
            plan.send_to = {order[(first + place + 1) % n]};
        Step shape;
        shape.receive = place > 0 ? kPeer : 0;
        shape.send = place + 1 < n ? kPeer : 0;
        make_shape(place, shape);
        plan.program = std::make_unique<StreamProgram>(shape, part, max_chunk);
        plans.push_back(std::move(plan));
    }
    return plans;
}

std::size_t place_in(const std::vector<std::uint32_t>& order, std::uint32_t rank) {
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), rank) - order.begin());
}

}  // namespace

std::vector<BlockPlan> plan_ring_broadcast(
    const std::vector<std::uint32_t>& order, std::uint32_t root, std::uint32_t channel, Part part,
    std::uint64_t max_chunk) {
    return plan_line(
        order, place_in(order, root), channel, part, max_chunk, [](std::size_t place, Step& shape) {
            shape.load = place == 0;
            shape.store = place > 0;
        });
}

std::vector<BlockPlan> plan_ring_reduce(
    const std::vector<std::uint32_t>& order, std::uint32_t root, std::uint32_t channel, Part part,
    std::uint64_t max_chunk) {
    const std::size_t n = order.size();
    return plan_line(
        order, (place_in(order, root) + 1) % n, channel, part, max_chunk,
        [n](std::size_t place, Step& shape) {
            shape.load = true;
            shape.store = place + 1 == n;
        });
}

}  // namespace switchfold

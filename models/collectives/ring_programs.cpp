// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/step.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint8_t kPeer = 1;  // a ring has one peer each way

std::uint64_t round_up(std::uint64_t value, std::uint64_t grain) {
    return (value + grain - 1) / grain * grain;
}

/// A buffer of `part.bytes` in loops of N chunks: NCCL's last loop shares what is left evenly, in
/// grains.
class LoopChunks {
public:
    LoopChunks(Part part, std::uint64_t ranks, std::uint64_t max_chunk, std::uint64_t grain) :
        part_(part), ranks_(ranks), max_chunk_(max_chunk), grain_(grain) {
        start_loop();
    }
    /// The part of chunk `index` in this loop that exists.
    [[nodiscard]] Part chunk(std::uint64_t index) const {
        const std::uint64_t begin = std::min(done_ + index * chunk_, part_.bytes);
        const std::uint64_t end = std::min(done_ + (index + 1) * chunk_, part_.bytes);
        return {part_.begin + begin, end - begin};
    }
    [[nodiscard]] bool finished() const { return done_ >= part_.bytes; }
    void next_loop() {
        done_ += ranks_ * chunk_;
        if (!finished())
            start_loop();
    }

private:
    void start_loop() {
        const std::uint64_t left = part_.bytes - done_;
        chunk_ = std::min(max_chunk_, round_up((left + ranks_ - 1) / ranks_, grain_));
    }
    Part part_;
    std::uint64_t ranks_;
    std::uint64_t max_chunk_;
    std::uint64_t grain_;
    std::uint64_t done_ = 0;
    std::uint64_t chunk_ = 0;
};

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

private:
    [[nodiscard]] Step make(std::uint64_t i) const {
        const std::uint64_t n = ranks_;
        // Chunk order of the ring: each step works on the chunk before the last one's.
        const Part part = chunks_.chunk((place_ + 2 * n - 1 - i) % n);
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
        std::uint64_t place,
        const std::vector<std::uint32_t>& order,
        Part part,
        std::uint64_t max_chunk,
        std::uint64_t stride,
        bool reduce) :
        place_(place),
        order_(order),
        part_(part),
        max_chunk_(max_chunk),
        stride_(stride),
        reduce_(reduce) {}

    std::optional<Step> next() override {
        while (done_ < part_.bytes) {
            const std::uint64_t bytes = std::min(max_chunk_, part_.bytes - done_);
            const std::uint64_t n = order_.size();
            if (step_ == n) {
                done_ += bytes;
                step_ = 0;
                continue;
            }
            const std::uint64_t i = step_++;
            const std::uint64_t shift = reduce_ ? 2 * n - 1 - i : n - i;
            const std::uint64_t owner = order_[(place_ + shift) % n];
            Step step{owner * stride_ + part_.begin + done_, bytes, 0, 0, false, false};
            step.receive = i > 0 ? kPeer : 0;
            step.send = i + 1 < n ? kPeer : 0;
            step.load = reduce_ || i == 0;
            step.store = reduce_ ? i + 1 == n : i > 0;
            return step;
        }
        return std::nullopt;
    }

private:
    std::uint64_t place_;
    std::vector<std::uint32_t> order_;
    Part part_;
    std::uint64_t max_chunk_;
    std::uint64_t stride_;
    bool reduce_;
    std::uint64_t done_ = 0;
    std::uint64_t step_ = 0;
};

/// The same step over a part in chunks: what a broadcast or one half of a tree does.
class Stream final : public Program {
public:
    Stream(Step shape, Part part, std::uint64_t max_chunk) :
        shape_(shape), part_(part), max_chunk_(max_chunk) {}
    std::optional<Step> next() override {
        if (done_ >= part_.bytes)
            return std::nullopt;
        Step step = shape_;
        step.offset = part_.begin + done_;
        step.bytes = std::min(max_chunk_, part_.bytes - done_);
        done_ += step.bytes;
        return step;
    }

private:
    Step shape_;
    Part part_;
    std::uint64_t max_chunk_;
    std::uint64_t done_ = 0;
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
        plan.receive_from = {order[(place + n - 1) % n]};
        plan.send_to = {order[(place + 1) % n]};
        plan.program = make(place);
        plans.push_back(std::move(plan));
    }
    return plans;
}

}  // namespace

Part part_of_channel(
    std::uint64_t bytes, std::uint32_t channels, std::uint32_t channel, std::uint64_t grain) {
    const std::uint64_t share = round_up((bytes + channels - 1) / channels, grain);
    const std::uint64_t begin = std::min(bytes, share * channel);
    return {begin, std::min(bytes - begin, share)};
}

std::vector<BlockPlan> plan_ring_all_reduce(
    const std::vector<std::uint32_t>& order,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk,
    std::uint64_t grain) {
    return plan_ring(order, channel, [&](std::size_t place) {
        return std::make_unique<RingAllReduce>(
            place, order.size(), LoopChunks(part, order.size(), max_chunk, grain));
    });
}

std::vector<BlockPlan> plan_ring_reduce_scatter(
    const std::vector<std::uint32_t>& order,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk,
    std::uint64_t stride) {
    return plan_ring(order, channel, [&](std::size_t place) {
        return std::make_unique<RingHalf>(place, order, part, max_chunk, stride, true);
    });
}

std::vector<BlockPlan> plan_ring_all_gather(
    const std::vector<std::uint32_t>& order,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk,
    std::uint64_t stride) {
    return plan_ring(order, channel, [&](std::size_t place) {
        return std::make_unique<RingHalf>(place, order, part, max_chunk, stride, false);
    });
}

std::vector<BlockPlan> plan_ring_broadcast(
    const std::vector<std::uint32_t>& order,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk) {
    const std::size_t n = order.size();
    return plan_ring(order, channel, [&](std::size_t place) {
        Step shape;
        shape.receive = place > 0 ? kPeer : 0;
        shape.send = place + 1 < n ? kPeer : 0;
        shape.load = place == 0;
        shape.store = place > 0;
        return std::make_unique<Stream>(shape, part, max_chunk);
    });
}

std::vector<BlockPlan> plan_tree_all_reduce(
    const std::vector<std::uint32_t>& parent,
    std::uint32_t channel,
    Part part,
    std::uint64_t max_chunk) {
    std::vector<std::vector<std::uint32_t>> children(parent.size());
    for (std::uint32_t r = 0; r < parent.size(); ++r)
        if (parent[r] != UINT32_MAX)
            children[parent[r]].push_back(r);
    std::vector<BlockPlan> plans;
    for (std::uint32_t r = 0; r < parent.size(); ++r) {
        const bool root = parent[r] == UINT32_MAX;
        const auto down = static_cast<std::uint8_t>((1U << children[r].size()) - 1U);
        BlockPlan up;
        up.rank = r;
        up.channel = channel;
        up.receive_from = children[r];
        Step shape;
        shape.receive = down;
        shape.load = true;
        if (root) {
            // The root turns the sum round without leaving its thread block.
            up.send_to = children[r];
            shape.send = down;
            shape.store = true;
        } else {
            up.send_to = {parent[r]};
            shape.send = kPeer;
        }
        up.program = std::make_unique<Stream>(shape, part, max_chunk);
        plans.push_back(std::move(up));
        if (root)
            continue;
        BlockPlan back;
        back.rank = r;
        back.channel = channel;
        back.receive_from = {parent[r]};
        back.send_to = children[r];
        Step copy;
        copy.receive = kPeer;
        copy.send = down;
        copy.store = true;
        back.program = std::make_unique<Stream>(copy, part, max_chunk);
        plans.push_back(std::move(back));
    }
    return plans;
}

namespace {

/// Pieces for one peer after another: sends piece k to the peer k places on while the one from k
/// places back comes in.
class Exchange final : public Program {
public:
    Exchange(
        std::uint64_t place,
        std::uint64_t peer,
        Part part,
        std::uint64_t stride,
        std::uint64_t chunk,
        bool send) :
        base_(peer * stride + part.begin), bytes_(part.bytes), chunk_(chunk), send_(send) {
        static_cast<void>(place);
    }
    std::optional<Step> next() override {
        if (done_ >= bytes_)
            return std::nullopt;
        Step step;
        step.offset = base_ + done_;
        step.bytes = std::min(chunk_, bytes_ - done_);
        done_ += step.bytes;
        if (send_) {
            step.send = kPeer;
            step.load = true;
        } else {
            step.receive = kPeer;
            step.store = true;
        }
        return step;
    }

private:
    std::uint64_t base_;
    std::uint64_t bytes_;
    std::uint64_t chunk_;
    bool send_;
    std::uint64_t done_ = 0;
};

}  // namespace

std::vector<BlockPlan> plan_all_to_all(
    std::uint32_t ranks,
    std::uint32_t channel,
    Part part,
    std::uint64_t stride,
    std::uint64_t max_chunk) {
    std::vector<BlockPlan> plans;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        for (std::uint32_t shift = 1; shift < ranks; ++shift) {
            BlockPlan out;
            out.rank = rank;
            out.channel = channel;
            const std::uint32_t to = (rank + shift) % ranks;
            out.send_to = {to};
            out.program = std::make_unique<Exchange>(rank, to, part, stride, max_chunk, true);
            plans.push_back(std::move(out));
            BlockPlan in;
            in.rank = rank;
            in.channel = channel;
            const std::uint32_t from = (rank + ranks - shift) % ranks;
            in.receive_from = {from};
            in.program = std::make_unique<Exchange>(rank, from, part, stride, max_chunk, false);
            plans.push_back(std::move(in));
        }
    return plans;
}

}  // namespace switchfold

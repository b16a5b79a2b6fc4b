// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/fifo/step.h"
#include "models/collectives/shortcuts/kept_machines.h"

#include <algorithm>

namespace switchfold {

namespace {
constexpr std::uint8_t kTreePeer = 1;
}  // namespace

std::optional<Step> StreamProgram::next() {
    if (done_ >= part_.bytes)
        return std::nullopt;
    Step step = shape_;
    step.offset = part_.begin + done_;
    step.bytes = std::min(max_chunk_, part_.bytes - done_);
    done_ += step.bytes;
    return step;
}

std::uint64_t
StreamProgram::skippable(std::uint64_t /*unit*/, const Transport& /*transport*/) const {
    const std::uint64_t whole = (part_.bytes - std::min(done_, part_.bytes)) / max_chunk_;
    return whole - std::min(whole, kLastTurns);
}

std::vector<BlockPlan> plan_tree_all_reduce(
    const std::vector<std::uint32_t>& parent, std::uint32_t channel, Part part,
    std::uint64_t max_chunk, WarpSplit split) {
    return plan_tree(parent, channel, split, [&](std::uint32_t /*rank*/, const Step& shape) {
        return std::make_unique<StreamProgram>(shape, part, max_chunk);
    });
}

std::vector<BlockPlan> plan_tree(
    const std::vector<std::uint32_t>& parent, std::uint32_t channel, WarpSplit split,
    const StreamMaker& make) {
    std::vector<std::vector<std::uint32_t>> children(parent.size());
    for (std::uint32_t r = 0; r < parent.size(); ++r)
        if (parent[r] != kNoParent && parent[r] != r)
            children[parent[r]].push_back(r);
    std::vector<BlockPlan> plans;
    for (std::uint32_t r = 0; r < parent.size(); ++r) {
        if (parent[r] == r)
            continue;
        const bool root = parent[r] == kNoParent;
        const auto down = static_cast<std::uint8_t>((1U << children[r].size()) - 1U);
        BlockPlan up;
        up.rank = r;
        up.channel = channel;
        up.warps = root ? split.up + split.down : split.up;
        up.receive_from = children[r];
        Step shape;
        shape.receive = down;
        shape.load = true;
        if (root) {
            // The root reverses the direction of the sum within its thread block.
            up.send_to = children[r];
            shape.send = down;
            shape.store = true;
        } else {
            up.send_to = {parent[r]};
            shape.send = kTreePeer;
        }
        up.program = make(r, shape);
        plans.push_back(std::move(up));
        if (root)
            continue;
        BlockPlan back;
        back.rank = r;
        back.channel = channel;
        back.warps = split.down;
        back.receive_from = {parent[r]};
        back.send_to = children[r];
        Step copy;
        copy.receive = kTreePeer;
        copy.send = down;
        copy.store = true;
        back.program = make(r, copy);
        plans.push_back(std::move(back));
    }
    return plans;
}

namespace {

/// One pair's blocks: the sender reads at `from`, the receiver writes at `to`.
void add_pair(
    std::vector<BlockPlan>& plans, std::uint32_t sender, std::uint32_t receiver,
    std::uint32_t channel, std::uint32_t round, Part from, Part to, std::uint64_t max_chunk) {
    Step send;
    send.send = kTreePeer;
    send.load = true;
    BlockPlan out;
    out.rank = sender;
    out.channel = channel;
    out.round = round;
    out.send_to = {receiver};
    out.program = std::make_unique<StreamProgram>(send, from, max_chunk);
    plans.push_back(std::move(out));
    Step receive;
    receive.receive = kTreePeer;
    receive.store = true;
    BlockPlan in;
    in.rank = receiver;
    in.channel = channel;
    in.round = round;
    in.receive_from = {sender};
    in.program = std::make_unique<StreamProgram>(receive, to, max_chunk);
    plans.push_back(std::move(in));
}

/// Copies a rank's own block within its memory.
BlockPlan copy_plan(std::uint32_t rank, std::uint32_t channel, Part part, std::uint64_t max_chunk) {
    Step copy;
    copy.load = true;
    copy.store = true;
    BlockPlan own;
    own.rank = rank;
    own.channel = channel;
    own.program = std::make_unique<StreamProgram>(copy, part, max_chunk);
    return own;
}

}  // namespace

std::vector<BlockPlan> plan_all_to_all(
    std::uint32_t ranks, std::uint32_t channel, const PartOfPair& part_of, std::uint64_t stride,
    std::uint64_t max_chunk) {
    std::vector<BlockPlan> plans;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (const std::optional<Part> part = part_of(rank, rank))
            plans.push_back(
                copy_plan(rank, channel, {rank * stride + part->begin, part->bytes}, max_chunk));
        for (std::uint32_t shift = 1; shift < ranks; ++shift) {
            const std::uint32_t to = (rank + shift) % ranks;
            if (const std::optional<Part> part = part_of(rank, to))
                add_pair(
                    plans, rank, to, channel, shift, {to * stride + part->begin, part->bytes},
                    {rank * stride + part->begin, part->bytes}, max_chunk);
        }
    }
    return plans;
}

std::vector<BlockPlan> plan_kept_all_to_all(
    const KeptMachines& machines, std::uint32_t ranks, std::uint32_t channel, Part part,
    std::uint64_t stride, std::uint64_t max_chunk) {
    std::vector<BlockPlan> plans;
    for (std::uint32_t kept = 0; kept < machines.kept(); ++kept) {
        const std::uint32_t rank = machines.rank_of(kept);
        const Part own{rank * stride + part.begin, part.bytes};
        plans.push_back(copy_plan(kept, channel, own, max_chunk));
        for (std::uint32_t shift = 1; shift < ranks; ++shift) {
            const std::uint32_t to = (rank + shift) % ranks;
            add_pair(
                plans, kept, machines.image(kept, to), channel, shift,
                {to * stride + part.begin, part.bytes}, own, max_chunk);
        }
    }
    return plans;
}

std::vector<BlockPlan> plan_send_receive(
    std::uint32_t sender, std::uint32_t receiver, std::uint32_t channel, Part part,
    std::uint64_t max_chunk) {
    std::vector<BlockPlan> plans;
    add_pair(plans, sender, receiver, channel, 0, part, part, max_chunk);
    return plans;
}

std::vector<BlockPlan>
plan_shift(std::uint32_t ranks, std::uint32_t channel, Part part, std::uint64_t max_chunk) {
    std::vector<BlockPlan> plans;
    if (ranks == 1)  // a single rank is its own successor
        plans.push_back(copy_plan(0, channel, part, max_chunk));
    for (std::uint32_t rank = 0; rank < ranks && ranks > 1; ++rank)
        add_pair(plans, rank, (rank + 1) % ranks, channel, 0, part, part, max_chunk);
    return plans;
}

std::vector<BlockPlan> plan_gather(
    std::uint32_t ranks, std::uint32_t root, bool scatter, std::uint32_t channel, Part part,
    std::uint64_t stride, std::uint64_t max_chunk) {
    std::vector<BlockPlan> plans;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const Part block{rank * stride + part.begin, part.bytes};
        if (rank == root)
            plans.push_back(copy_plan(rank, channel, block, max_chunk));
        else if (scatter)
            add_pair(plans, root, rank, channel, 0, block, block, max_chunk);
        else
            add_pair(plans, rank, root, channel, 0, block, block, max_chunk);
    }
    return plans;
}

}  // namespace switchfold

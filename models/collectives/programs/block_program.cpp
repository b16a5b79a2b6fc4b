// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/programs/block_program.h"

#include <algorithm>

namespace switchfold::programs {

RankProgress::RankProgress(const RankProgram& program) {
    for (const Block& block : program.blocks) {
        awaited_.emplace_back(block.steps.size());
        done_.emplace_back(block.steps.size());
    }
    for (const Block& block : program.blocks)
        for (const Instruction& step : block.steps)
            for (const After& after : step.after)
                awaited_[after.block][after.step] = true;
}

std::uint64_t RankProgress::ready(const Instruction& instruction, std::uint64_t loop) const {
    std::uint64_t at = 0;
    for (const After& after : instruction.after) {
        const Done& done = done_[after.block][after.step];
        if (done.loops <= loop)
            return switchfold::Program::kNotYet;
        at = std::max(at, done.at);
    }
    return at;
}

void RankProgress::ended(std::uint32_t block, std::uint32_t step, std::uint64_t at) {
    Done& done = done_[block][step];
    ++done.loops;
    done.at = at;
    for (ThreadBlock* other : blocks_)
        other->wake();
}

std::optional<Step> ProgramBlock::next() {
    while (loop_ < layout_.loops()) {
        while (at_ < block_.steps.size()) {
            if (std::optional<Step> step = of_instruction()) {
                issued_ = true;
                return step;
            }
            // What had no byte to move, in this loop, has ended as it begins.
            if (!issued_ && progress_.awaited(index_, at_))
                progress_.ended(index_, at_, 0);
            issued_ = false;
            done_ = 0;
            ++at_;
        }
        at_ = 0;
        ++loop_;
    }
    return std::nullopt;
}

Step ProgramBlock::shape(const Instruction& instruction) const {
    Step step;
    step.receive = receives(instruction.op) ? 1 : 0;
    step.send = sends(instruction.op) ? 1 : 0;
    step.load = loads(instruction.op);
    step.store = stores(instruction.op);
    step.adds = instruction.op == Op::kReduce;
    return step;
}

std::optional<Step> ProgramBlock::of_instruction() {
    const Instruction& instruction = block_.steps[at_];
    const bool still = instruction.op == Op::kNothing || instruction.op == Op::kBarrier;
    if (still ? done_ > 0 : done_ >= instruction.count)
        return std::nullopt;
    const bool first = !issued_;
    Step step = shape(instruction);
    step.gated = first && !instruction.after.empty();
    const auto chunk_at = [&](std::uint32_t i) { return instruction.chunks[i]; };
    if (still) {
        done_ = 1;
        step.bytes = 1;
        step.aside = true;
        aside_ = {this, thread_, instruction.op, rank_, index_, 0, 0, 0, false};
    } else {
        // Small chunks that follow each other go together.
        Part piece = layout_.piece(instance_, chunk_at(done_), loop_);
        std::uint32_t taken = 1;
        while (piece.bytes == 0) {
            if (++done_ == instruction.count)
                return std::nullopt;
            piece = layout_.piece(instance_, chunk_at(done_), loop_);
        }
        std::uint64_t from = 0;
        std::uint64_t to = 0;
        if (loads(instruction.op) || in_switch(instruction.op))
            from = layout_.address(rank_, instance_, instruction.from + done_) + piece.begin;
        if (stores(instruction.op) || in_switch(instruction.op))
            to = layout_.address(rank_, instance_, instruction.to + done_) + piece.begin;
        // Both ends of a connection see the same chunks, and so join the same ones.
        while (layout_.loops() == 1 && taken < layout_.at_once() &&
               done_ + taken < instruction.count &&
               chunk_at(done_ + taken) == chunk_at(done_ + taken - 1) + 1) {
            piece.bytes += layout_.piece(instance_, chunk_at(done_ + taken), loop_).bytes;
            ++taken;
        }
        done_ += taken;
        step.bytes = piece.bytes;
        step.offset = step.load ? from : to;
        step.shift = static_cast<std::int64_t>(to) - static_cast<std::int64_t>(step.offset);
        if (!step.store)
            step.shift = 0;
        if (in_switch(instruction.op)) {
            step.aside = true;
            aside_ = {this, thread_, instruction.op, rank_, index_, from, to, piece.bytes, false};
        }
    }
    // Nothing with bytes may follow in this loop.
    bool more = false;
    for (std::uint32_t i = done_; !still && i < instruction.count; ++i)
        more = more || layout_.piece(instance_, chunk_at(i), loop_).bytes > 0;
    step.told = !more && progress_.awaited(index_, at_);
    aside_.last = !more && at_ + 1U == block_.steps.size() && loop_ + 1 == layout_.loops();
    return step;
}

}  // namespace switchfold::programs

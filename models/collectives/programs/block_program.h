// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/fifo/thread_block.h"
#include "models/collectives/programs/data_layout.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold::programs {

class ProgramBlock;

/// What an instruction is that its block does not move itself.
struct AsideStep {
    ProgramBlock* program = nullptr;
    ThreadBlock* block = nullptr;
    Op op = Op::kNothing;
    std::uint32_t rank = 0;
    std::uint32_t place = 0;  ///< of the block, among the rank's
    std::uint64_t from = 0;   ///< bytes in the rank's memory
    std::uint64_t to = 0;
    std::uint64_t bytes = 0;
    bool last = false;  ///< of the block
};
class AsideMover {
public:
    virtual void move(const AsideStep& step, std::uint64_t start) = 0;

protected:
    ~AsideMover() = default;
};

/// How far the blocks of a rank are, for those that wait for others.
class RankProgress {
public:
    explicit RankProgress(const RankProgram& program);
    /// Whether others wait for this step.
    [[nodiscard]] bool awaited(std::uint32_t block, std::uint32_t step) const {
        return awaited_[block][step];
    }
    /// When (ps) the steps that an instruction waits for have ended in that loop, or kNotYet.
    [[nodiscard]] std::uint64_t ready(const Instruction& instruction, std::uint64_t loop) const;
    void ended(std::uint32_t block, std::uint32_t step, std::uint64_t at);
    void add(ThreadBlock& block) { blocks_.push_back(&block); }

private:
    struct Done {
        std::uint64_t loops = 0;
        std::uint64_t at = 0;
    };
    std::vector<std::vector<bool>> awaited_;
    std::vector<std::vector<Done>> done_;
    std::vector<ThreadBlock*> blocks_;
};

/// The instructions of a block as steps of the interpreter that rings use, loop by loop.
class ProgramBlock final : public switchfold::Program {
public:
    ProgramBlock(
        const programs::Program& program, const DataLayout& layout, std::uint32_t rank,
        std::uint32_t index, std::uint32_t instance, RankProgress& progress, AsideMover& mover) :
        block_(program.ranks[rank].blocks[index]),
        layout_(layout),
        progress_(progress),
        mover_(mover),
        rank_(rank),
        index_(index),
        instance_(instance) {}

    std::optional<Step> next() override;
    [[nodiscard]] std::uint64_t may_begin() override {
        return progress_.ready(block_.steps[at_], loop_);
    }
    void ended(std::uint64_t end) override { progress_.ended(index_, at_, end); }
    void move_aside(std::uint64_t start) override { mover_.move(aside_, start); }
    void attach(ThreadBlock& block) override {
        thread_ = &block;
        progress_.add(block);
    }

private:
    /// The next step of the instruction, if it has one left.
    [[nodiscard]] std::optional<Step> of_instruction();
    [[nodiscard]] Step shape(const Instruction& instruction) const;

    const Block& block_;
    const DataLayout& layout_;
    RankProgress& progress_;
    AsideMover& mover_;
    ThreadBlock* thread_ = nullptr;
    AsideStep aside_;
    std::uint32_t rank_;
    std::uint32_t index_;
    std::uint32_t instance_;
    std::uint64_t loop_ = 0;
    std::uint32_t at_ = 0;    ///< instruction of the step issued last
    std::uint32_t done_ = 0;  ///< places of it
    bool issued_ = false;     ///< of the instruction, in this loop
};

}  // namespace switchfold::programs

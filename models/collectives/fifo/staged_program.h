// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/fifo/step.h"
#include "models/collectives/in_switch/nvls_chunks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace switchfold {

/// Interface of a staged block to the stages inside its machine.
class PieceGate {
public:
    /// Time (ps) at which this part of a step on that loop's piece can move; Program::kNotYet if
    /// unknown.
    [[nodiscard]] virtual std::uint64_t available(
        std::uint32_t position, std::uint32_t channel, std::uint64_t loop, const Step& step,
        Part part) = 0;
    virtual void moved(
        std::uint32_t position, std::uint32_t channel, std::uint64_t loop, const Step& step,
        Part part) = 0;
    virtual void attach(std::uint32_t position, std::uint32_t channel, ThreadBlock& block) = 0;

protected:
    ~PieceGate() = default;
};

/// A block between machines: for each loop the steps of an all-reduce of that loop's piece, which
/// advance as the machine's own sums of the piece arrive and as results can be stored to all.
class StagedProgram final : public Program {
public:
    using Maker = std::function<std::unique_ptr<Program>(Part)>;
    StagedProgram(
        PieceGate& gate, const NvlsChunks& pieces, std::uint32_t position, std::uint32_t channel,
        std::uint32_t head, Maker make) :
        gate_(gate),
        pieces_(pieces),
        make_(std::move(make)),
        position_(position),
        channel_(channel),
        head_(head) {}

    std::optional<Step> next() override {
        while (true) {
            if (inner_) {
                if (std::optional<Step> step = inner_->next()) {
                    begins_ = std::exchange(fresh_, false);
                    step->staged = step->load || step->store;
                    last_ = *step;
                    return step;
                }
                inner_.reset();
                ++loop_;
            }
            if (loop_ == pieces_.loops(channel_))
                return std::nullopt;
            const Part part = pieces_.piece(channel_, loop_, head_);
            if (part.bytes > 0) {
                inner_ = make_(part);
                fresh_ = true;
            } else {
                ++loop_;
            }
        }
    }
    [[nodiscard]] bool begins_turn() const override { return begins_; }
    /// The pieces handle skipping.
    [[nodiscard]] std::uint64_t
    skippable(std::uint64_t /*unit*/, const Transport& /*transport*/) const override {
        const std::uint64_t begun = loop_ + 1 + kLastTurns;
        return pieces_.loops(channel_) - std::min(begun, pieces_.loops(channel_));
    }
    [[nodiscard]] std::uint64_t available(std::uint64_t done, std::uint64_t bytes) override {
        return gate_.available(position_, channel_, loop_, last_, {last_.offset + done, bytes});
    }
    void moved(std::uint64_t done, std::uint64_t bytes) override {
        gate_.moved(position_, channel_, loop_, last_, {last_.offset + done, bytes});
    }
    void attach(ThreadBlock& block) override { gate_.attach(position_, channel_, block); }

private:
    PieceGate& gate_;
    const NvlsChunks& pieces_;
    Maker make_;
    std::unique_ptr<Program> inner_;
    Step last_;
    std::uint32_t position_;
    std::uint32_t channel_;
    std::uint32_t head_;
    std::uint64_t loop_ = 0;
    bool fresh_ = false;   ///< no step of this loop has been issued
    bool begins_ = false;  ///< the last step was the first of a loop
};

}  // namespace switchfold

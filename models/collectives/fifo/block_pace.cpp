// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/fifo/block_pace.h"

#include <algorithm>

namespace switchfold {

BlockPace::BlockPace(const Transport& transport, BlockSm& sm, const BlockPlan& plan) :
    transport_(transport),
    sm_(sm),
    warps_(plan.warps),
    staged_(plan.staged),
    stage_rate_(plan.stage_rate) {}

void BlockPace::begin(const Step& step, std::uint8_t over_host) {
    const bool adds = step.load && step.receive != 0;
    if (adds != adds_)
        timed_bytes_ = UINT32_MAX;
    adds_ = adds;
    over_host_ = static_cast<std::uint8_t>(step.send & over_host);
    streams_ = peers_in(step.receive) + peers_in(step.send) + (step.load ? 1U : 0U) +
               (step.store ? 1U : 0U);
    sm_.streams += streams_;
}

std::uint64_t BlockPace::warps_time_of(std::uint32_t bytes) const {
    if (staged_)
        return stage_rate_ == Bandwidth() ? 0
                                          : serialization_time(Bytes(bytes), stage_rate_).count();
    const Bytes alone(std::uint64_t{bytes} * kAllWarps / warps_);
    std::uint64_t time = serialization_time(alone, transport_.block_rate).count();
    if (adds_ && transport_.sum_rate != Bandwidth())
        time += serialization_time(alone, transport_.sum_rate).count();
    if (const Bandwidth share = transport_.gpu_share; share != Bandwidth()) {
        // A tree's channel moves data up and down, each by a part of its warps.
        const Bytes both(std::uint64_t{bytes} * (warps_ == kAllWarps ? 1U : 2U));
        time = std::max(time, serialization_time(both, share).count());
    }
    return time;
}

std::uint64_t BlockPace::time_of(std::uint32_t bytes) {
    if (bytes != timed_bytes_) {
        timed_bytes_ = bytes;
        warps_time_ = warps_time_of(bytes);
    }
    if (staged_ || transport_.stream_time == 0)
        return warps_time_;
    return warps_time_ + ((transport_.stream_time * sm_.streams * bytes) >> kStreamTimeShift);
}

std::uint64_t BlockPace::next_after(
    std::uint64_t now, const Step& step, std::uint64_t done, std::uint32_t bytes) {
    std::uint64_t next = now;
    if (transport_.round == 0) {
        next += time_of(bytes);
    } else {
        const std::uint64_t all = std::uint64_t{transport_.round} * warps_ / kAllWarps;
        const auto rounds = [all](std::uint64_t moved) { return (moved + all - 1) / all; };
        const std::uint64_t end = done + bytes;
        if (const std::uint64_t begun = rounds(end) - rounds(done); begun > 0)
            round_until_ =
                now +
                begun * std::max(time_of(static_cast<std::uint32_t>(all)), round_stores(step));
        // Threads of a round store at once. What follows the last one waits for round_until().
        const std::uint64_t last = std::min<std::uint64_t>(end + transport_.unit, step.bytes);
        if (rounds(last) > rounds(end))
            next = std::max(now, round_until_);
    }
    if (over_host_ != 0) {
        const std::uint64_t stored = std::uint64_t{transport_.wire(bytes)} * peers_in(over_host_);
        next = std::max(
            next, now + serialization_time(Bytes(stored), transport_.host_store_rate).count());
    }
    return next;
}

std::uint64_t BlockPace::round_stores(const Step& step) const {
    if (!step.store || step.staged || transport_.element_rate == Bandwidth())
        return 0;
    const std::uint64_t all = std::uint64_t{transport_.round} * warps_ / kAllWarps;
    const std::uint64_t elements = std::min(all, step.bytes) / transport_.stored_element;
    return serialization_time(Bytes(elements), transport_.element_rate).count();
}

std::uint64_t BlockPace::delay_of_stores(const Step& step) const {
    return std::max(round_stores(step), transport_.hidden_stores) - transport_.hidden_stores;
}

void BlockPace::end_step(std::uint64_t now) {
    round_until_ = std::max(round_until_, now) + transport_.slice_overhead;
}

}  // namespace switchfold

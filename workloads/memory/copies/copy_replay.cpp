// SPDX-License-Identifier: Apache-2.0
#include "workloads/memory/copies/copy_replay.h"

#include "sim/core/error.h"

#include <algorithm>
#include <queue>

namespace switchfold {

namespace {

/// Room of the staging ring: who took it gives it back at a known time.
class Ring {
public:
    explicit Ring(std::uint64_t size) : size_(size) {}

    void take(std::uint64_t bytes) {
        used_ += bytes;
        most_ = std::max(most_, used_);
    }
    void give_back(double when, std::uint64_t bytes) { returns_.emplace(when, bytes); }
    /// The first time from `when` on with so much room. What is given back later in the order of
    /// steps is not known yet, and not needed: a step waits for those before it alone.
    [[nodiscard]] double wait_for(double when, std::uint64_t bytes) {
        while (!returns_.empty() && (returns_.top().first <= when || size_ - used_ < bytes)) {
            when = std::max(when, returns_.top().first);
            used_ -= returns_.top().second;
            returns_.pop();
        }
        SWITCHFOLD_CHECK(
            used_ + bytes <= size_, "a step needs {} bytes of a ring of {}", bytes + used_, size_);
        return when;
    }
    [[nodiscard]] double wait_for_all(double when) {
        for (; !returns_.empty(); returns_.pop()) {
            when = std::max(when, returns_.top().first);
            used_ -= returns_.top().second;
        }
        return when;
    }
    [[nodiscard]] std::uint64_t most() const { return most_; }

private:
    using Return = std::pair<double, std::uint64_t>;
    std::uint64_t size_;
    std::uint64_t used_ = 0;
    std::uint64_t most_ = 0;
    std::priority_queue<Return, std::vector<Return>, std::greater<>> returns_;
};

}  // namespace

CopyReplay replay_copies(
    const AccessSchedule& schedule,
    const std::vector<bool>& pinned,
    std::uint64_t ring_bytes,
    const CopyRates& rates,
    bool ahead) {
    const std::vector<StepMoves> moves = step_moves(schedule, pinned);
    Ring ring(ring_bytes);
    for (const Stay& stay : stays_of(schedule))
        if (!pinned[stay.item] && stay.first > stay.last)
            ring.take(schedule.items[stay.item].bytes);  // still there from the iteration before
    const auto sum = [&](const std::vector<std::uint32_t>& items) {
        std::uint64_t bytes = 0;
        for (const std::uint32_t item : items)
            bytes += schedule.items[item].bytes;
        return bytes;
    };
    CopyReplay replay;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    double fetched = 0;  // end of the queue in
    double kept = 0;     // end of the queue out
    double computed = 0;
    for (std::size_t t = 0; t < schedule.steps.size(); ++t) {
        StepReplay step;
        const std::uint64_t fetch = sum(moves[t].fetch);
        const std::uint64_t room = fetch + sum(moves[t].make);
        step.fetch_begin = fetched;
        if (!ahead)
            step.fetch_begin = ring.wait_for_all(std::max({fetched, computed, kept}));
        step.fetch_begin = ring.wait_for(step.fetch_begin, room);
        ring.take(room);
        step.fetch_end = step.fetch_begin + static_cast<double>(fetch) / rates.in;
        fetched = step.fetch_end;
        step.begin = std::max(computed, fetched);
        step.end = step.begin + schedule.steps[t].seconds;
        computed = step.end;
        if (const std::uint64_t drop = sum(moves[t].drop); drop > 0)
            ring.give_back(step.end, drop);
        for (const std::uint32_t item : moves[t].keep) {
            const std::uint64_t bytes = schedule.items[item].bytes;
            kept = std::max(kept, computed) + static_cast<double>(bytes) / rates.out;
            ring.give_back(kept, bytes);
            out += bytes;
        }
        step.keep_end = moves[t].keep.empty() ? step.end : kept;
        in += fetch;
        replay.compute += schedule.steps[t].seconds;
        replay.steps.push_back(step);
    }
    replay.seconds = std::max(computed, kept);
    replay.stall = replay.seconds - replay.compute;
    replay.staging = ring.most();
    replay.at_least = std::max(
        {replay.compute, static_cast<double>(in) / rates.in, static_cast<double>(out) / rates.out});
    return replay;
}

CopyReplay replay_copies(
    const AccessSchedule& schedule,
    const PinningPlan& plan,
    std::uint64_t memory,
    const CopyRates& rates) {
    SWITCHFOLD_CHECK(plan.refusal.empty(), "a plan that is none: {}", plan.refusal);
    SWITCHFOLD_CHECK(plan.floor_bytes() <= memory, "a plan that does not fit");
    return replay_copies(
        schedule,
        plan.pinned,
        memory - plan.resident_bytes - plan.pinned_bytes,
        rates,
        plan.staging != Staging::kSingle);
}

}  // namespace switchfold

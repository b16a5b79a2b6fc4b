// SPDX-License-Identifier: Apache-2.0
#include "training/memory/copies/copy_replay.h"

#include "core/error.h"
#include "training/memory/copies/ring_waits.h"

#include <algorithm>

namespace switchfold {

CopyReplay replay_copies(
    const TensorUses& schedule, const std::vector<bool>& retained, std::uint64_t ring_bytes,
    const CopyRates& rates, bool ahead) {
    const std::vector<StepMoves> moves = step_moves(schedule, retained);
    const auto waits = room_waits(schedule, retained, moves, ring_bytes, ahead);
    CopyReplay replay;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    double fetched = 0;  // end of the inbound queue
    double kept = 0;     // end of the outbound queue
    double computed = 0;
    for (std::size_t t = 0; t < schedule.steps.size(); ++t) {
        StepReplay step;
        const std::uint64_t fetch = bytes_of(schedule, moves[t].prefetch);
        step.fetch_begin = fetched;
        if (waits[t])
            step.fetch_begin = std::max(fetched, replay.steps[*waits[t]].given_back);
        step.fetch_end = step.fetch_begin + static_cast<double>(fetch) / rates.in;
        fetched = step.fetch_end;
        step.begin = std::max(computed, fetched);
        step.end = step.begin + schedule.steps[t].seconds;
        computed = step.end;
        if (const std::uint64_t keep = bytes_of(schedule, moves[t].offload); keep > 0) {
            kept = std::max(kept, computed) + static_cast<double>(keep) / rates.out;
            out += keep;
        }
        step.given_back = std::max(computed, kept);
        in += fetch;
        replay.compute += schedule.steps[t].seconds;
        replay.steps.push_back(step);
    }
    replay.seconds = std::max(computed, kept);
    replay.stall = replay.seconds - replay.compute;
    replay.at_least = std::max(
        {replay.compute, static_cast<double>(in) / rates.in, static_cast<double>(out) / rates.out});
    return replay;
}

CopyReplay replay_copies(
    const TensorUses& schedule, const OffloadPlan& plan, std::uint64_t memory,
    const CopyRates& rates) {
    SWITCHFOLD_CHECK(plan.refusal.empty(), "a plan that is none: {}", plan.refusal);
    SWITCHFOLD_CHECK(plan.floor_bytes() <= memory, "a plan that does not fit");
    return replay_copies(
        schedule, plan.retained, memory - plan.resident_bytes - plan.retained_bytes, rates,
        plan.staging != Staging::kSingle);
}

}  // namespace switchfold

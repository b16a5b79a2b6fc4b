// SPDX-License-Identifier: Apache-2.0
#include "training/memory/copies/copy_replay.h"

#include "core/error.h"
#include "core/list_schedule.h"
#include "training/memory/copies/ring_waits.h"

#include <algorithm>
#include <optional>

namespace switchfold {

CopyReplay replay_copies(
    const TensorUses& schedule, const std::vector<bool>& retained, std::uint64_t ring_bytes,
    const CopyRates& rates, bool ahead) {
    const std::vector<StepMoves> moves = step_moves(schedule, retained);
    const auto waits = room_waits(schedule, retained, moves, ring_bytes, ahead);
    CopyReplay replay;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    constexpr auto kInOrder = ListSchedule::Takes::kNextAdded;
    ListSchedule list;
    const std::uint32_t inbound = list.add_device(kInOrder);
    const std::uint32_t computes = list.add_device(kInOrder);
    const std::uint32_t outbound = list.add_device(kInOrder);
    struct Tasks {
        std::uint32_t fetch;
        std::uint32_t step;
        std::optional<std::uint32_t> keep;  // last copy out of this step and all before it
    };
    std::vector<Tasks> tasks;
    for (std::size_t t = 0; t < schedule.steps.size(); ++t) {
        const std::uint64_t fetch = bytes_of(schedule, moves[t].prefetch);
        Tasks of{
            list.add_task(inbound, static_cast<double>(fetch) / rates.in),
            list.add_task(computes, schedule.steps[t].seconds),
            tasks.empty() ? std::nullopt : tasks.back().keep};
        if (waits[t]) {
            list.add_need(of.fetch, tasks[*waits[t]].step);
            if (tasks[*waits[t]].keep)
                list.add_need(of.fetch, *tasks[*waits[t]].keep);
        }
        list.add_need(of.step, of.fetch);
        if (const std::uint64_t keep = bytes_of(schedule, moves[t].offload); keep > 0) {
            of.keep = list.add_task(outbound, static_cast<double>(keep) / rates.out);
            list.add_need(*of.keep, of.step);
            out += keep;
        }
        tasks.push_back(of);
        in += fetch;
        replay.compute += schedule.steps[t].seconds;
    }
    SWITCHFOLD_CHECK(list.run(), "copies wait for each other");
    for (const Tasks& of : tasks) {
        const auto& [fetch_begin, fetch_end] = list.times()[of.fetch];
        const auto& [begin, end] = list.times()[of.step];
        const double kept = of.keep ? list.times()[*of.keep].end : 0;
        replay.steps.push_back({fetch_begin, fetch_end, begin, end, std::max(end, kept)});
    }
    if (!replay.steps.empty())
        replay.seconds = replay.steps.back().given_back;
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

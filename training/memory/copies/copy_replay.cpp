// SPDX-License-Identifier: Apache-2.0
#include "training/memory/copies/copy_replay.h"

#include "core/error.h"
#include "core/list_schedule.h"
#include "training/memory/copies/ring_waits.h"

#include <algorithm>
#include <optional>

namespace switchfold {

namespace {

/// Tasks of a device that run one after another.
class Queue {
public:
    explicit Queue(ListSchedule& list) : list_(list), device_(list.add_device()) {}
    void add(double seconds) {
        const std::uint32_t task = list_.add_task(device_, seconds);
        if (!tasks_.empty())
            list_.add_need(task, tasks_.back());
        tasks_.push_back(task);
    }
    [[nodiscard]] std::uint32_t last() const { return tasks_.back(); }
    [[nodiscard]] const std::vector<std::uint32_t>& tasks() const { return tasks_; }

private:
    ListSchedule& list_;
    std::uint32_t device_;
    std::vector<std::uint32_t> tasks_;
};

}  // namespace

CopyReplay replay_copies(
    const TensorUses& schedule, const std::vector<bool>& retained, std::uint64_t ring_bytes,
    const CopyRates& rates, bool ahead) {
    const std::vector<StepMoves> moves = step_moves(schedule, retained);
    const auto waits = room_waits(schedule, retained, moves, ring_bytes, ahead);
    CopyReplay replay;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    ListSchedule list;
    Queue inbound(list);
    Queue computes(list);
    Queue outbound(list);
    std::vector<std::optional<std::uint32_t>> kept;  // last copy out of a step and all before it
    for (std::size_t t = 0; t < schedule.steps.size(); ++t) {
        const std::uint64_t fetch = bytes_of(schedule, moves[t].prefetch);
        inbound.add(static_cast<double>(fetch) / rates.in);
        if (waits[t]) {
            list.add_need(inbound.last(), computes.tasks()[*waits[t]]);
            if (kept[*waits[t]])
                list.add_need(inbound.last(), *kept[*waits[t]]);
        }
        computes.add(schedule.steps[t].seconds);
        list.add_need(computes.last(), inbound.last());
        if (const std::uint64_t keep = bytes_of(schedule, moves[t].offload); keep > 0) {
            outbound.add(static_cast<double>(keep) / rates.out);
            list.add_need(outbound.last(), computes.last());
            out += keep;
        }
        kept.push_back(outbound.tasks().empty() ? std::nullopt : std::optional(outbound.last()));
        in += fetch;
        replay.compute += schedule.steps[t].seconds;
    }
    SWITCHFOLD_CHECK(list.run(), "copies wait for each other");
    for (std::size_t t = 0; t < schedule.steps.size(); ++t) {
        const auto& [fetch_begin, fetch_end] = list.times()[inbound.tasks()[t]];
        const auto& [begin, end] = list.times()[computes.tasks()[t]];
        const double out_end = kept[t] ? list.times()[*kept[t]].end : 0;
        replay.steps.push_back({fetch_begin, fetch_end, begin, end, std::max(end, out_end)});
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

// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/replay.h"

#include "core/error.h"
#include "core/list_schedule.h"
#include "training/plan/schedule/pass_needs.h"

#include <algorithm>
#include <limits>

namespace switchfold {

namespace {

double time_of(const Pass& pass, const ReplayTimes& times) {
    const StageTimes& stage = times.stages[pass.stage];
    switch (pass.kind) {
    case PassKind::kForward:
        return stage.forward;
    case PassKind::kBackward:
        return stage.input_gradient + stage.weight_gradient;
    case PassKind::kInputGradient:
        return stage.input_gradient;
    case PassKind::kWeightGradient:
        return stage.weight_gradient;
    case PassKind::kUpdate:
        return stage.update;
    }
    return 0;
}

double time_of(const Slot& slot, const ReplayTimes& times) {
    if (!slot.beside)
        return time_of(slot.pass, times);
    const double together = times.stages[slot.pass.stage].together;
    return together > 0 ? together : time_of(slot.pass, times) + time_of(*slot.beside, times);
}

void measure(const PipelineSchedule& schedule, const ReplayTimes& times, Replay& result) {
    double busy = 0;
    for (std::uint32_t device = 0; device < schedule.devices(); ++device) {
        const std::vector<Slot>& order = schedule.order[device];
        double begin = std::numeric_limits<double>::infinity();
        double end = 0;
        for (std::size_t k = 0; k < order.size(); ++k) {
            const ListSchedule::Times& interval = result.slots[device][k];
            result.makespan = std::max(result.makespan, interval.end);
            if (order[k].pass.kind == PassKind::kUpdate && !schedule.asynchronous)
                continue;
            begin = std::min(begin, interval.begin);
            end = std::max(end, interval.end);
            busy += time_of(order[k], times);
        }
        result.cost = std::max(result.cost, end - begin);
    }
    if (result.cost > 0)
        result.bubble_share = 1 - busy / schedule.devices() / result.cost;
}

}  // namespace

Replay replay(const PipelineSchedule& schedule, const ReplayTimes& times) {
    SWITCHFOLD_CHECK(times.stages.size() == schedule.stages(), "times of other stages");
    ListSchedule list;
    std::vector<std::uint32_t> first;  // task of each device's first slot
    std::uint32_t tasks = 0;           // so far
    for (const std::vector<Slot>& order : schedule.order) {
        first.push_back(tasks);
        const std::uint32_t device = list.add_device(ListSchedule::Takes::kNextAdded);
        for (const Slot& slot : order)
            tasks = list.add_task(device, time_of(slot, times)) + 1;
    }
    const PassTable table(schedule);
    for (std::uint32_t device = 0; device < schedule.devices(); ++device)
        for (std::uint32_t k = 0; k < schedule.order[device].size(); ++k)
            for_each_pass(schedule.order[device][k], [&](const Pass& pass) {
                for_each_need(schedule, pass, [&](const Pass& need) {
                    const PassTable::Place& place = table.at(need);
                    list.add_need(
                        first[device] + k, first[place.device] + place.slot,
                        place.device == device ? 0 : times.message);
                });
            });
    SWITCHFOLD_CHECK(list.run(), "{} deadlocks", schedule.name);
    Replay result;
    for (std::uint32_t device = 0; device < schedule.devices(); ++device) {
        const auto begin = list.times().begin() + first[device];
        result.slots.emplace_back(
            begin, begin + static_cast<std::ptrdiff_t>(schedule.order[device].size()));
    }
    measure(schedule, times, result);
    return result;
}

}  // namespace switchfold

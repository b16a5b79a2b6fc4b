// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/weight_age.h"

#include "training/plan/schedule/pass_needs.h"

#include <algorithm>
#include <map>
#include <set>

namespace switchfold {

namespace {

/// Visits the passes of one stage on one device in order, with the number of updates before each.
template <class Visit>
void for_each_with_updates(
    const PipelineSchedule& schedule, std::uint32_t device, std::uint32_t stage, Visit visit) {
    std::uint32_t updates = 0;
    for (const Slot& slot : schedule.order[device]) {
        for_each_pass(slot, [&](const Pass& pass) {
            if (pass.stage != stage)
                return;
            if (pass.kind == PassKind::kUpdate)
                ++updates;
            else
                visit(pass, updates);
        });
    }
}

}  // namespace

std::vector<WeightAge> weight_ages(const PipelineSchedule& schedule, std::uint32_t stage) {
    std::vector<WeightAge> ages(schedule.micro_batches);
    for (const std::uint32_t device : schedule.devices_with(stage)) {
        std::vector<std::uint32_t> updated_by;
        for (const Slot& slot : schedule.order[device])
            if (slot.pass.kind == PassKind::kUpdate && slot.pass.stage == stage)
                updated_by.push_back(slot.pass.micro_batch);
        for_each_with_updates(
            schedule, device, stage, [&](const Pass& pass, std::uint32_t updates) {
                WeightAge& age = ages[pass.micro_batch];
                const auto before = static_cast<std::uint32_t>(
                    std::count_if(updated_by.begin(), updated_by.end(), [&](std::uint32_t last) {
                        return last < pass.micro_batch;
                    }));
                if (pass.kind == PassKind::kForward) {
                    age.forward_missed = before - std::min(before, updates);
                    age.between = updates;
                } else if (is_backward(pass.kind)) {
                    age.backward_missed = before - std::min(before, updates);
                    age.between = updates - age.between;
                }
            });
    }
    return ages;
}

std::uint32_t versions_stashed(const PipelineSchedule& schedule, std::uint32_t stage) {
    std::size_t most = 1;
    for (const std::uint32_t device : schedule.devices_with(stage)) {
        std::map<std::uint32_t, std::uint32_t> seen;  // version by micro-batch in flight
        for_each_with_updates(
            schedule, device, stage, [&](const Pass& pass, std::uint32_t updates) {
                if (pass.kind == PassKind::kForward)
                    seen[pass.micro_batch] = updates;
                std::set<std::uint32_t> versions{updates};
                for (const auto& [micro_batch, version] : seen)
                    versions.insert(version);
                most = std::max(most, versions.size());
                if (is_backward(pass.kind))
                    seen.erase(pass.micro_batch);
            });
    }
    return static_cast<std::uint32_t>(most);
}

std::uint32_t predicted_forward(std::uint32_t stages, std::uint32_t stage) {
    return stage / 2 + stages - stage - 1;
}

std::uint32_t predicted_backward(std::uint32_t /*stages*/, std::uint32_t stage) {
    return stage / 2;
}

std::uint32_t updates_until_round_trip_ends(
    const PipelineSchedule& schedule, const Replay& times, const Pass& pass) {
    const PassTable table(schedule);
    const auto begin_of = [&](const Pass& which) {
        const PassTable::Place& place = table.at(which);
        return times.slots[place.device][place.slot].begin;
    };
    const double from = begin_of(pass);
    const double until = begin_of({PassKind::kBackward, pass.micro_batch, 0});
    const std::uint32_t device = schedule.device_of(pass);
    std::uint32_t updates = 0;
    for (std::size_t k = 0; k < schedule.order[device].size(); ++k) {
        const Pass& other = schedule.order[device][k].pass;
        const double end = times.slots[device][k].end;
        if (other.kind == PassKind::kUpdate && other.stage == pass.stage && end > from &&
            end <= until)
            ++updates;
    }
    return updates;
}

}  // namespace switchfold

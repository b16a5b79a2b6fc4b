// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/pass_needs.h"

namespace switchfold {

PassTable::PassTable(const PipelineSchedule& schedule) :
    micro_batches_(schedule.micro_batches),
    stages_(schedule.stages()),
    places_(3 * micro_batches_ * stages_) {
    for (std::uint32_t device = 0; device < schedule.devices(); ++device)
        for (std::uint32_t slot = 0; slot < schedule.order[device].size(); ++slot)
            for_each_pass(schedule.order[device][slot], [&](const Pass& pass) {
                if (pass.kind != PassKind::kUpdate)
                    places_[index(pass)] = {device, slot};
            });
}

std::optional<Pass> receiver_of(const PipelineSchedule& schedule, const Pass& pass) {
    Pass to = pass;
    if (pass.kind == PassKind::kForward && pass.stage + 1 < schedule.stages())
        ++to.stage;
    else if (is_backward(pass.kind) && pass.stage > 0)
        --to.stage;
    else
        return {};
    if (schedule.device_of(to) == schedule.device_of(pass))
        return {};
    return to;
}

std::optional<Pass> sender_to(const PipelineSchedule& schedule, const Pass& pass) {
    std::optional<Pass> from;
    for_each_need(schedule, pass, [&](const Pass& need) {
        if (schedule.device_of(need) != schedule.device_of(pass))
            from = need;
    });
    return from;
}

bool walk(
    const PipelineSchedule& schedule, const VisitSlot& visit, std::vector<std::size_t>* left) {
    const PassTable table(schedule);
    const std::uint32_t devices = schedule.devices();
    std::vector<std::size_t> next(devices, 0);
    // Devices that wait for a device; they are woken when it advances.
    std::vector<std::vector<std::uint32_t>> waiting(devices);
    std::vector<std::uint32_t> awake(devices);
    for (std::uint32_t device = 0; device < devices; ++device)
        awake[device] = devices - 1 - device;
    const auto blocker = [&](std::uint32_t device) {
        std::uint32_t found = PassTable::Place::kNowhere;
        for_each_pass(schedule.order[device][next[device]], [&](const Pass& pass) {
            for_each_need(schedule, pass, [&](const Pass& need) {
                const PassTable::Place& place = table.at(need);
                if (place.slot >= next[place.device])
                    found = place.device;
            });
        });
        return found;
    };
    while (!awake.empty()) {
        const std::uint32_t device = awake.back();
        awake.pop_back();
        const std::size_t begun = next[device];
        while (next[device] < schedule.order[device].size()) {
            const std::uint32_t blocked_by = blocker(device);
            if (blocked_by != PassTable::Place::kNowhere) {
                waiting[blocked_by].push_back(device);
                break;
            }
            visit(table, device, next[device]);
            ++next[device];
        }
        if (next[device] != begun) {
            for (const std::uint32_t other : waiting[device])
                if (other != device)
                    awake.push_back(other);
            waiting[device].clear();
        }
    }
    bool ended = true;
    for (std::uint32_t device = 0; device < devices; ++device)
        ended = ended && next[device] == schedule.order[device].size();
    if (left != nullptr)
        *left = next;
    return ended;
}

}  // namespace switchfold

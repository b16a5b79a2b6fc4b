// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/device_passes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace switchfold {

std::vector<DevicePass>
device_passes(const PipelineSchedule& schedule, const StageWork& work, std::uint32_t device) {
    const std::vector<Slot>& order = schedule.order[device];
    // Passes that still need what a forward left, by stage and micro-batch.
    using Of = std::pair<std::uint32_t, std::uint32_t>;
    std::map<Of, std::uint32_t> left;
    std::vector<Pass> in_order;
    for (const Slot& slot : order) {
        if (slot.beside)
            in_order.push_back(*slot.beside);
        in_order.push_back(slot.pass);
    }
    for (const Pass& pass : in_order)
        if (pass.kind != PassKind::kUpdate)
            ++left[{pass.stage, pass.micro_batch}];
    std::vector<DevicePass> passes;
    std::map<std::uint32_t, std::set<std::uint32_t>> free;  // buffers by stage
    std::map<Of, std::uint32_t> buffer_of;
    std::uint32_t buffers = 0;
    for (const Pass& pass : in_order) {
        DevicePass made{
            pass.kind, pass.micro_batch, work.first(pass.stage), work.end(pass.stage), 0};
        if (pass.kind != PassKind::kUpdate) {
            const Of of{pass.stage, pass.micro_batch};
            std::set<std::uint32_t>& unused = free[pass.stage];
            if (const auto [at, fresh] = buffer_of.try_emplace(of, buffers); fresh) {
                if (unused.empty())
                    ++buffers;
                else
                    at->second = unused.extract(unused.begin()).value();
            }
            made.buffer = buffer_of.at(of);
            if (--left[of] == 0)
                unused.insert(made.buffer);
        }
        passes.push_back(made);
    }
    return passes;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan/schedule/in_flight.h"

#include "workloads/plan/schedule/pass_needs.h"

#include <algorithm>

namespace switchfold {

double most_in_flight(
    const PipelineSchedule& schedule, std::uint32_t device, const std::vector<Kept>& kept) {
    double held = 0;
    double most = 0;
    for (const Slot& slot : schedule.order[device]) {
        for_each_pass(slot, [&](const Pass& pass) {
            const Kept& stage = kept[pass.stage];
            switch (pass.kind) {
            case PassKind::kForward:
                held += stage.until_input_gradient;
                most = std::max(most, held);
                break;
            case PassKind::kBackward:
                held -= stage.until_input_gradient;
                break;
            case PassKind::kInputGradient:
                held += stage.until_weight_gradient - stage.until_input_gradient;
                most = std::max(most, held);
                break;
            case PassKind::kWeightGradient:
                held -= stage.until_weight_gradient;
                break;
            case PassKind::kUpdate:
                break;
            }
        });
    }
    return most;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/in_flight.h"

#include "training/plan/schedule/pass_needs.h"

namespace switchfold {

namespace {

/// Memory that a pass holds from its begin on, holds while it runs, and gains or frees at its end.
struct PassInFlight {
    double begin = 0;
    double again = 0;
    double end = 0;
};

PassInFlight in_flight(PassKind kind, const Kept& stage) {
    switch (kind) {
    case PassKind::kForward:
        return {stage.until_input_gradient, 0, 0};
    case PassKind::kBackward:
        return {0, stage.again, -stage.until_input_gradient};
    case PassKind::kInputGradient:
        return {
            0, stage.again_before_weights,
            stage.until_weight_gradient - stage.until_input_gradient};
    case PassKind::kWeightGradient:
        return {0, 0, -stage.until_weight_gradient};
    case PassKind::kUpdate:
        break;
    }
    return {};
}

}  // namespace

InFlight most_in_flight(
    const PipelineSchedule& schedule, std::uint32_t device, const std::vector<Kept>& kept,
    const std::vector<Kept>& last) {
    InFlight most;
    double held = 0;
    for (const Slot& slot : schedule.order[device]) {
        InFlight now{held, 0};
        for_each_pass(slot, [&](const Pass& pass) {
            const bool is_last = pass.micro_batch + 1 == schedule.micro_batches;
            const PassInFlight changes = in_flight(pass.kind, (is_last ? last : kept)[pass.stage]);
            now.kept += changes.begin;
            now.again += changes.again;
            held += changes.begin + changes.end;
        });
        if (now.all() > most.all())
            most = now;
    }
    return most;
}

}  // namespace switchfold

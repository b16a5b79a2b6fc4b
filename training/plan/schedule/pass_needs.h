// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace switchfold {

/// Position of each pass, except updates, in a schedule.
class PassTable {
public:
    struct Place {
        static constexpr std::uint32_t kNowhere = UINT32_MAX;
        std::uint32_t device = kNowhere;
        std::uint32_t slot = 0;
        [[nodiscard]] bool known() const { return device != kNowhere; }
    };

    explicit PassTable(const PipelineSchedule& schedule);

    /// A backward is also found under its input gradient.
    [[nodiscard]] const Place& at(const Pass& pass) const { return places_[index(pass)]; }

private:
    [[nodiscard]] std::size_t index(const Pass& pass) const {
        const std::size_t row =
            pass.kind == PassKind::kForward ? 0 : (is_backward(pass.kind) ? 1 : 2);
        return (row * micro_batches_ + pass.micro_batch) * stages_ + pass.stage;
    }
    std::size_t micro_batches_;
    std::size_t stages_;
    std::vector<Place> places_;
};

template <class Visit>
void for_each_pass(const Slot& slot, Visit visit) {
    visit(slot.pass);
    if (slot.beside)
        visit(*slot.beside);
}

/// Visits the passes that `pass` waits for, apart from the order on its device: a forward waits for
/// the previous stage, a backward for the next stage and for its own forward, a weight gradient for
/// its input gradient.
template <class Visit>
void for_each_need(const PipelineSchedule& schedule, const Pass& pass, Visit visit) {
    if (pass.kind == PassKind::kForward && pass.stage > 0)
        visit(Pass{PassKind::kForward, pass.micro_batch, pass.stage - 1});
    if (is_backward(pass.kind)) {
        visit(Pass{PassKind::kForward, pass.micro_batch, pass.stage});
        if (pass.stage + 1 < schedule.stages())
            visit(Pass{PassKind::kInputGradient, pass.micro_batch, pass.stage + 1});
    }
    if (pass.kind == PassKind::kWeightGradient)
        visit(Pass{PassKind::kInputGradient, pass.micro_batch, pass.stage});
}

/// The pass on another device that waits for this one's message, if any.
[[nodiscard]] std::optional<Pass> receiver_of(const PipelineSchedule& schedule, const Pass& pass);
/// The pass on another device whose message this one waits for, if any.
[[nodiscard]] std::optional<Pass> sender_to(const PipelineSchedule& schedule, const Pass& pass);

/// Visits every slot after all that it depends on. \returns false if some slots wait for each
/// other; `left` then holds the first of them on every device.
using VisitSlot =
    std::function<void(const PassTable& table, std::uint32_t device, std::size_t slot)>;
bool walk(
    const PipelineSchedule& schedule, const VisitSlot& visit,
    std::vector<std::size_t>* left = nullptr);

}  // namespace switchfold

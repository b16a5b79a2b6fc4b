// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"
#include "training/plan/step/stage_work.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A pass of one device over the layers of a stage.
struct DevicePass {
    PassKind kind = PassKind::kForward;
    std::uint32_t micro_batch = 0;
    std::uint32_t first = 0;  ///< layer
    std::uint32_t end = 0;    ///< one past the last
    /// Where the micro-batch's activations lie from its forward until its last gradients; updates
    /// have none. Buffers are numbered from 0, and each is of one stage.
    std::uint32_t buffer = 0;
};

/// The passes of a device in their order. A micro-batch takes the first buffer of its stage that is
/// free. Of two passes beside each other the second comes first, as the rank's writer has them.
[[nodiscard]] std::vector<DevicePass>
device_passes(const PipelineSchedule& schedule, const StageWork& work, std::uint32_t device);

}  // namespace switchfold

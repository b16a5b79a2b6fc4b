// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/event.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace switchfold {

/// Writes the meaning of an NVTX range into `event`, in the form of PyTorch's profiler: a step
/// ("step 3", "iteration"), a phase ("forward", "Backward pass", "Optimizer.step#SGD.step"), a
/// collective ("ncclAllReduce", with `payload_bytes` as its bytes), an operator with its shapes
/// (torch.autograd.profiler.emit_nvtx: "aten::mm, seq = 3, sizes = [[8, 4], [4, 2]]"), or an
/// annotation. Sets category, name, input_dims and input_types.
void describe_range(
    std::string_view text, std::optional<std::uint64_t> payload_bytes, TraceEvent& event);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kineto/event.h"

#include <cstdint>
#include <optional>
#include <string>

namespace switchfold::nsight {

/// An NVTX range as the event that PyTorch's profiler would have written for it: an operator with
/// its shapes (emit_nvtx: "aten::mm, seq = 3, sizes = [[2, 3], [3, 4]]"), a phase or a step by its
/// name, a collective ("ncclAllReduce", whose payload is its bytes), or an annotation.
[[nodiscard]] TraceEvent
event_of_range(std::string text, std::optional<std::uint64_t> payload_bytes);

}  // namespace switchfold::nsight

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kineto/event.h"

#include <string_view>

namespace switchfold::capture {

/// What an NVTX range means to the readers of traces, as category, name and input shapes of an
/// event. Ranges of torch.autograd.profiler.emit_nvtx() are PyTorch's operators: "aten::mm, seq =
/// 3, sizes = [[8, 4], [4, 2]]". Others are annotations, of which "step ...", "iteration ...",
/// "forward...", "backward..." and "optimizer..." mark steps and phases.
void describe_range(std::string_view text, TraceEvent& event);

}  // namespace switchfold::capture

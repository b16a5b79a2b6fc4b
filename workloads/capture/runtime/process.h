// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/recorder.h"

namespace switchfold::capture {

/// The recorder of this process, made at the first call; null if the process is not to be captured
/// or its file cannot be made. CUDA and NCCL call in by C functions without a context of ours, so
/// this is the one state that the libraries share. It is never destroyed, since other threads may
/// call until the very end; the End record is written at exit.
[[nodiscard]] Recorder* process_recorder();

}  // namespace switchfold::capture

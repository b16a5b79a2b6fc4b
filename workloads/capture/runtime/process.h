// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/runtime/recorder.h"

namespace switchfold::capture {

/// The process's recorder, created on the first call; null if the process is not captured or its
/// file cannot be created. CUDA and NCCL call C functions without a user context, so this is the
/// only state that the libraries share. It is never destroyed, because other threads may call until
/// the very end; the End record is written at exit.
[[nodiscard]] Recorder* process_recorder();

}  // namespace switchfold::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

namespace switchfold {

/// Checks workloads that share a machine: their names and GPUs, whether each can, and that nothing
/// is given that follows one workload.
void check_sharing(const Experiment& experiment, ParamChecker& checker);

}  // namespace switchfold

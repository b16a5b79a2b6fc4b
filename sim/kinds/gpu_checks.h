// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"

namespace switchfold {

/// Checks an experiment of one or several workloads on GPUs.
void check_on_gpus(const Experiment& experiment, ParamChecker& checker);

}  // namespace switchfold

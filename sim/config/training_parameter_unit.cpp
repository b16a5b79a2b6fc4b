// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"
#include "sim/config/training_params.h"

namespace switchfold {

SWITCHFOLD_PARAMETERS(, TrainingWorkloadParams);

}  // namespace switchfold

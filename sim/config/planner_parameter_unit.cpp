// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"
#include "sim/config/planner_params.h"

namespace switchfold {

SWITCHFOLD_BOXED_PARAMETERS(, PlannerParams);

}  // namespace switchfold

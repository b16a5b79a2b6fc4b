// SPDX-License-Identifier: Apache-2.0
#include "sim/run/config/parameter_units.h"

namespace switchfold {

SWITCHFOLD_PARAMETERS(, PlannerParams);

}  // namespace switchfold

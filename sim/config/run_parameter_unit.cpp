// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"
#include "sim/config/run_params.h"

namespace switchfold {

SWITCHFOLD_BOXED_PARAMETERS(, RunParams);

}  // namespace switchfold

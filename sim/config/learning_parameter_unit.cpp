// SPDX-License-Identifier: Apache-2.0
#include "sim/config/learning_params.h"
#include "sim/config/parameter_units.h"

namespace switchfold {

SWITCHFOLD_BOXED_PARAMETERS(, LearningParams);

}  // namespace switchfold

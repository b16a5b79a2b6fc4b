// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"

namespace switchfold {

SWITCHFOLD_PARAMETERS(, CollectiveParams);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"

namespace switchfold {

SWITCHFOLD_PARAMETERS(, TopologyParams);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"
#include "sim/kinds/many_core/many_core_params.h"

namespace switchfold {

SWITCHFOLD_PARAMETERS(, ProcessorParams);
SWITCHFOLD_PARAMETERS(, ManyCoreParams);
SWITCHFOLD_PARAMETERS(, DeviceParams);

}  // namespace switchfold

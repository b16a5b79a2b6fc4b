// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameter_units.h"

namespace switchfold {

SWITCHFOLD_PARAMETERS(, ProcessorParams);
SWITCHFOLD_PARAMETERS(, ManyCoreParams);
SWITCHFOLD_PARAMETERS(, DeviceParams);

}  // namespace switchfold

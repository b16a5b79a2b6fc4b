// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"

namespace switchfold {

/// Puts every object (or choice of objects) that a JSON Schema describes more than once under
/// "$defs", named after the key at which it stands first, and refers to it from there.
void share_definitions(OrderedJson& schema);

}  // namespace switchfold

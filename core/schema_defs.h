// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

namespace switchfold {

/// Moves every object (or choice of objects) that occurs more than once in a JSON Schema to
/// "$defs", named after the key of its first occurrence, and refers to it from there.
void share_definitions(OrderedJson& schema);

}  // namespace switchfold

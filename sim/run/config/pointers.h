// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"

#include <string_view>
#include <vector>

namespace switchfold {

/// Whether one of two JSON pointers is the other or leads to it.
[[nodiscard]] bool related(std::string_view a, std::string_view b);

/// In the order in which they are to be applied: what holds a value comes before the value.
void order_overrides(std::vector<Override>& overrides);

}  // namespace switchfold

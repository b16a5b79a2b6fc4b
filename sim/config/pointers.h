// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <string_view>
#include <vector>

namespace switchfold {

/// Whether one JSON pointer equals the other or is a prefix of it.
[[nodiscard]] bool related(std::string_view a, std::string_view b);

/// Sorts overrides into the order of application: a value before the values inside it.
void order_overrides(std::vector<Override>& overrides);

}  // namespace switchfold

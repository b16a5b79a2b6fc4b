// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace switchfold {

/// "1.2.3", as the project's CMakeLists.txt says.
[[nodiscard]] std::string_view version();

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

inline constexpr std::uint32_t kWarpThreads = 32;  ///< threads of a warp

}  // namespace switchfold

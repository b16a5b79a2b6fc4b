// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

namespace switchfold {

/// Time stamps of two streams, or of the GPU and its host, agree to about this much: older traces
/// have whole microseconds.
inline constexpr Time kClockNoise = microseconds(2);

}  // namespace switchfold

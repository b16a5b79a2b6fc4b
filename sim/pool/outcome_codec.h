// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine/outcome.h"

#include <string>
#include <string_view>

namespace switchfold {

/// Encodes an outcome for the way from a worker to its parent, on the same machine.
[[nodiscard]] std::string encode(const Outcome& outcome);
/// Throws InternalError if the bytes are not a complete outcome.
[[nodiscard]] Outcome decode(std::string_view bytes);

}  // namespace switchfold

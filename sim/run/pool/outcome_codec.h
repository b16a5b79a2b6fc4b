// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/machine/simulate.h"

#include <cstddef>
#include <span>
#include <vector>

namespace switchfold {

/// Bytes that carry an outcome from a worker to its parent, on the same machine.
[[nodiscard]] std::vector<std::byte> encode(const Outcome& outcome);
/// Throws InternalError if the bytes are not a whole outcome.
[[nodiscard]] Outcome decode(std::span<const std::byte> bytes);

}  // namespace switchfold

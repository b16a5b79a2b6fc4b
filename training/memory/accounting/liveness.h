// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Bytes in use by step without copies, if memory is freed as early as possible: persistent items
/// always, other items from their first to their last step.
[[nodiscard]] std::vector<std::uint64_t> live_bytes(const TensorUses& schedule);
[[nodiscard]] std::uint64_t peak_of_live_bytes(const TensorUses& schedule);

/// Bytes of the items that a step has open, including scratch.
[[nodiscard]] std::uint64_t open_bytes(const TensorUses& schedule, std::size_t step);

}  // namespace switchfold

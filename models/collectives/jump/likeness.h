// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold {

struct CollectiveSpec;

/// What collectives have in common that move alike on one undisturbed machine.
using Likeness = std::vector<std::uint64_t>;

[[nodiscard]] Likeness likeness(const CollectiveSpec& spec);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/config/experiment.h"

#include <span>

namespace switchfold {

/// The system with other values at some pointers of system_json(). Throws ConfigError if one is not
/// there or takes no such value.
[[nodiscard]] SystemParams
changed_system(const SystemParams& system, std::span<const Override> changes);

}  // namespace switchfold

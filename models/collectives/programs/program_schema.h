// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

namespace switchfold::programs {

/// JSON Schema of our own form (docs/programs.md). What a program does is proved when it is loaded.
[[nodiscard]] OrderedJson program_schema();

}  // namespace switchfold::programs

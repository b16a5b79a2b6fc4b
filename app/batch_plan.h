// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands.h"

namespace switchfold {

/// `plan batch`: divides a batch over GPUs by their measured step times.
void add_plan_batch(CLI::App& plan, Chosen& chosen);

}  // namespace switchfold

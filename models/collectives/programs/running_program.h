// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

namespace switchfold {

/// A file's program, on thread blocks connected by FIFOs and the switches of each machine.
[[nodiscard]] MakeCollective make_program;

}  // namespace switchfold

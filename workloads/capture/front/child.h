// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/front/plan.h"

#include <string>
#include <vector>

namespace switchfold::capture {

/// Runs the command with the variables in its environment and waits for it. Forwards signals sent
/// to this process alone. Returns the command's exit code, or 128 plus the signal's number if a
/// signal ended it. Throws IoError if it cannot be started.
[[nodiscard]] int run_child(const std::vector<std::string>& command, const Variables& variables);

}  // namespace switchfold::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace switchfold {

/// What a program of nccl-tests printed of a line: without colours, and without what launchers,
/// containers and loggers put before it (mpirun --tag-output "[1,0]<stdout>:", srun --label "12: ",
/// kubectl logs --timestamps, "worker-0  | "). It begins at a comment's "#" or at a row's size; a
/// line that is neither is left whole.
[[nodiscard]] std::string printed_part(std::string line);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace switchfold::capture {

/// Runs the action in a forked child that exits without exit handlers. Returns waitpid's status.
inline int status_of_child(const std::function<int()>& action) {
    const pid_t child = fork();
    if (child == 0)
        _exit(action());
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

}  // namespace switchfold::capture

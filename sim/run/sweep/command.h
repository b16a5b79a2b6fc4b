// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace switchfold {

/// What another program said.
struct CommandOutput {
    int status = 0;    ///< exit status; 127: there is no such program
    std::string text;  ///< standard output and error
};

/// Runs a program, found by PATH, and waits for its end. Throws IoError if it cannot be started.
[[nodiscard]] CommandOutput run_command(const std::vector<std::string>& words);

/// A word as a shell reads it back.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace switchfold

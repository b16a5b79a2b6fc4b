// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace switchfold {

/// Status of a program that is not there, as shells have it.
inline constexpr int kNoProgram = 127;

/// Output of another program.
struct CommandOutput {
    int status = 0;    ///< exit status; kNoProgram: not found
    std::string text;  ///< standard output and error
};

/// Runs a program found by PATH and waits for it. Throws IoError if it cannot be started.
[[nodiscard]] CommandOutput run_command(const std::vector<std::string>& words);

/// Quotes a word for the shell.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace switchfold

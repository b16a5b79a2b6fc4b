// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/command.h"

#include "core/error.h"

#include <array>
#include <cerrno>

#include <sys/wait.h>
#include <unistd.h>

namespace switchfold {

namespace {

[[noreturn]] void become(const std::vector<std::string>& words, int output) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));  // execvp does not modify them
    arguments.push_back(nullptr);
    ::execvp(arguments.front(), arguments.data());
    _exit(kNoProgram);
}

std::string read_all(int file) {
    std::string text;
    std::array<char, 4096> block{};
    for (;;) {
        const ssize_t count = ::read(file, block.data(), block.size());
        if (count > 0)
            text.append(block.data(), static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR)
            return text;
    }
}

}  // namespace

CommandOutput run_command(const std::vector<std::string>& words) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
        throw IoError(words.front(), errno, "open a pipe to the program");
    const pid_t pid = ::fork();
    if (pid < 0) {
        const int why = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        throw IoError(words.front(), why, "start the program");
    }
    if (pid == 0) {
        ::close(ends[0]);
        become(words, ends[1]);
    }
    ::close(ends[1]);
    CommandOutput output;
    output.text = read_all(ends[0]);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    constexpr int kSignal = 128;
    output.status = WIFEXITED(status) ? WEXITSTATUS(status) : kSignal + WTERMSIG(status);
    return output;
}

std::string shell_word(const std::string& word) {
    std::string out = "'";
    for (const char c : word)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/front/child.h"

#include "core/error.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace switchfold::capture {

namespace {

/// This process's environment, with the given variables replacing those of equal name.
std::vector<std::string> environment_with(const Variables& variables) {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string_view name = text.substr(0, text.find('='));
        if (std::none_of(variables.begin(), variables.end(), [&](const auto& variable) {
                return variable.first == name;
            }))
            entries.emplace_back(text);
    }
    for (const auto& [name, value] : variables)
        entries.push_back(name + "=" + value);
    return entries;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& text : strings)
        result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// Signals to wait for, instead of ending this process.
sigset_t waited_for() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        sigaddset(&set, signal);
    return set;
}

pid_t start(std::vector<std::string> command, const Variables& variables, const sigset_t& mask) {
    std::vector<std::string> entries = environment_with(variables);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int error = posix_spawnp(
        &child, command[0].c_str(), nullptr, &attributes, pointers(command).data(),
        pointers(entries).data());
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        throw IoError(command[0], error, "start");
    return child;
}

/// Waits for the child to end. Signals from the terminal reach the child directly.
int wait_for(pid_t child, const sigset_t& signals) {
    constexpr int kSignalled = 128;
    while (true) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
        siginfo_t info{};
        const int signal = sigwaitinfo(&signals, &info);
        if (signal > 0 && signal != SIGCHLD && info.si_code == SI_USER)
            kill(child, signal);
    }
}

}  // namespace

int run_child(const std::vector<std::string>& command, const Variables& variables) {
    const sigset_t signals = waited_for();
    sigset_t before;
    sigprocmask(SIG_BLOCK, &signals, &before);
    try {
        const int code = wait_for(start(command, variables, before), signals);
        sigprocmask(SIG_SETMASK, &before, nullptr);
        return code;
    } catch (...) {
        sigprocmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
}

}  // namespace switchfold::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <fmt/format.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// Exit codes of the command line; scripts depend on them.
enum class ExitCode : int {
    kDone = 0,
    kOutOfTolerance = 1,
    kBadInput = 2,
    kUnfinished = 3,
    kInternal = 70,
};

/// One error in the user's input: file, JSON pointer (or line), what is wrong, and what was
/// expected.
struct Problem {
    std::string file;
    std::string pointer;
    std::string message;
    [[nodiscard]] std::string text() const {
        return fmt::format("{}: {}: {}", file, pointer.empty() ? "/" : pointer, message);
    }
};

/// Wrong user input: exit 2. Carries all problems found; what() lists one per line.
class ConfigError : public std::runtime_error {
public:
    explicit ConfigError(std::vector<Problem> problems);
    ConfigError(std::string file, std::string pointer, std::string message) :
        ConfigError(
            std::vector<Problem>{{std::move(file), std::move(pointer), std::move(message)}}) {}
    [[nodiscard]] const std::vector<Problem>& problems() const noexcept { return problems_; }

private:
    std::vector<Problem> problems_;
};

/// The operating system rejected a file operation: exit 2.
class IoError : public std::runtime_error {
public:
    IoError(std::string path, int error_number, std::string_view action);
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

/// The simulated machine cannot go on (deadlock, credit underflow, time-out): exit 3.
class SimulationError : public std::runtime_error {
public:
    SimulationError(std::string component, Time time, std::string_view message);
    [[nodiscard]] const std::string& component() const noexcept { return component_; }
    [[nodiscard]] Time time() const noexcept { return time_; }

private:
    std::string component_;
    Time time_;
};

/// A bug in switchfold: exit 70.
class InternalError : public std::logic_error {
public:
    InternalError(std::string_view condition, std::string_view message, std::source_location where);
};

/// Exit code that an exception maps to.
[[nodiscard]] ExitCode exit_code(const std::exception& error) noexcept;

/// Always enabled: a false condition is a bug in switchfold.
#define SWITCHFOLD_CHECK(condition, ...)                                                           \
    do {                                                                                           \
        if (!(condition)) [[unlikely]]                                                             \
            throw ::switchfold::InternalError(                                                     \
                #condition, fmt::format(__VA_ARGS__), std::source_location::current());            \
    } while (false)

}  // namespace switchfold

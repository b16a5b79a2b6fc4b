// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"

#include <system_error>

namespace switchfold {

namespace {

std::string lines(const std::vector<Problem>& problems) {
    std::string text;
    for (const Problem& problem : problems) {
        if (!text.empty())
            text += '\n';
        text += problem.text();
    }
    return text;
}

}  // namespace

ConfigError::ConfigError(std::vector<Problem> problems) :
    std::runtime_error(lines(problems)), problems_(std::move(problems)) {}

IoError::IoError(std::string path, int error_number, std::string_view action) :
    std::runtime_error(fmt::format(
        "{}: /: cannot {}: {}", path, action, std::generic_category().message(error_number))),
    path_(std::move(path)) {}

SimulationError::SimulationError(std::string component, Time time, std::string_view message) :
    std::runtime_error(fmt::format("{} at {}: {}", component, to_string(time), message)),
    component_(std::move(component)),
    time_(time) {}

InternalError::InternalError(
    std::string_view condition, std::string_view message, std::source_location where) :
    std::logic_error(fmt::format(
        "{}:{}: {}: {} is false: this is a bug", where.file_name(), where.line(), message,
        condition)) {}

ExitCode exit_code(const std::exception& error) noexcept {
    if (dynamic_cast<const ConfigError*>(&error) != nullptr ||
        dynamic_cast<const IoError*>(&error) != nullptr)
        return ExitCode::kBadInput;
    if (dynamic_cast<const SimulationError*>(&error) != nullptr)
        return ExitCode::kUnfinished;
    return ExitCode::kInternal;
}

}  // namespace switchfold

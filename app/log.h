// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace switchfold {

/// Messages about the program's work, on stderr: all steps with --verbose, nothing (not even
/// progress) with --quiet. Excludes errors.
class Log {
public:
    Log();
    void add_options(CLI::App& app);

    void step(const std::string& text) const;
    [[nodiscard]] bool quiet() const { return quiet_; }

private:
    std::shared_ptr<spdlog::logger> logger_;
    bool quiet_ = false;
};

}  // namespace switchfold

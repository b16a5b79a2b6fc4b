// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace switchfold {

class Log;

/// Each adds one subcommand; when it is the one that was asked for, `chosen` is set to what it
/// does. That returns the exit code and throws on errors.
using Chosen = std::function<int()>;
void add_run(CLI::App& app, Chosen& chosen, const Log& log);
void add_sweep(CLI::App& app, Chosen& chosen, const Log& log);
void add_report(CLI::App& app, Chosen& chosen);
void add_trace(CLI::App& app, Chosen& chosen, const Log& log);
void add_plan(CLI::App& app, Chosen& chosen, const Log& log);
/// `switchfold plan EXPERIMENT` itself: `plan` has commands of its own beside it.
void add_planner(CLI::App& plan, Chosen& chosen, const Log& log);
void add_describe(CLI::App& app, Chosen& chosen);
void add_schema(CLI::App& app, Chosen& chosen);
void add_validate(CLI::App& app, Chosen& chosen, const Log& log);
void add_new(CLI::App& app, Chosen& chosen);
void add_doctor(CLI::App& app, Chosen& chosen);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace switchfold {

class Log;

/// Each function adds one subcommand. If it is selected, `chosen` is set to its action, which
/// returns the exit code and throws on errors.
using Chosen = std::function<int()>;
void add_run(CLI::App& app, Chosen& chosen, const Log& log);
void add_sweep(CLI::App& app, Chosen& chosen, const Log& log);
void add_report(CLI::App& app, Chosen& chosen);
void add_energy(CLI::App& app, Chosen& chosen);
void add_trace(CLI::App& app, Chosen& chosen, const Log& log);
void add_plan(CLI::App& app, Chosen& chosen, const Log& log);
/// Adds `switchfold plan EXPERIMENT` itself; `plan` also has subcommands.
void add_planner(CLI::App& plan, Chosen& chosen, const Log& log);
void add_describe(CLI::App& app, Chosen& chosen);
void add_schema(CLI::App& app, Chosen& chosen);
void add_validate(CLI::App& app, Chosen& chosen, const Log& log);
void add_calibrate(CLI::App& app, Chosen& chosen, const Log& log);
void add_new(CLI::App& app, Chosen& chosen);
void add_import(CLI::App& app, Chosen& chosen);
void add_doctor(CLI::App& app, Chosen& chosen);

}  // namespace switchfold

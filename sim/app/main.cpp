// SPDX-License-Identifier: Apache-2.0
#include "sim/app/commands.h"
#include "sim/core/error.h"
#include "sim/run/runner.h"

#include <fmt/format.h>

#include <cstdio>

namespace {

int bad_arguments(const std::string& text) {
    fmt::print(stderr, "switchfold: /: {}; expected what --help says\n", text);
    return static_cast<int>(switchfold::ExitCode::kBadInput);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace switchfold;  // NOLINT(google-build-using-namespace): the program itself
    CLI::App app{
        "switchfold simulates how collectives and compute share GPUs and the interconnect, and what a switch that\n"
        "reduces in flight gives back.\n\nExample:\n  switchfold run configs/experiments/example.json --out runs/example",
        "switchfold"};
    app.set_version_flag("--version", std::string("switchfold ") + kVersion);
    app.require_subcommand(1);
    Chosen chosen;
    add_run(app, chosen);
    add_trace(app, chosen);
    add_describe(app, chosen);
    add_schema(app, chosen);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        return bad_arguments(error.what());
    }
    try {
        return chosen();
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return static_cast<int>(exit_code(error));
    }
}

// libsystemc exports main and leaves sc_main undefined; ours is the main above.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}

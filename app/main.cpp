// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/log.h"
#include "core/error.h"
#include "core/huge_pages.h"
#include "core/text_cells.h"
#include "core/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

int bad_arguments(const std::string& text) {
    fmt::print(stderr, "switchfold: /: {}; expected what --help says\n", text);
    return static_cast<int>(switchfold::ExitCode::kBadInput);
}

/// An error message if one of the first words is an unknown command; else empty.
std::string unknown_command(const CLI::App& app, std::span<char*> words) {
    if (words.empty() || words[0][0] == '-')
        return {};
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    // Arguments of a command that takes positional words are checked by that command.
    const auto takes_words =
        app.get_options([](const CLI::Option* option) { return option->get_positional(); });
    if (commands.empty() || !takes_words.empty())
        return {};
    std::vector<std::string_view> known;
    for (const CLI::App* command : commands) {
        if (command->get_name() == words[0])
            return unknown_command(*command, words.subspan(1));
        known.push_back(command->get_name());
    }
    return fmt::format(
        "unknown command \"{}\"{}; expected one of: {}", words[0],
        switchfold::did_you_mean(words[0], known), fmt::join(known, ", "));
}

/// Throws if output could not be written to standard output.
void flush_output() {
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw switchfold::IoError("standard output", errno == 0 ? EIO : errno, "write all of it");
}

}  // namespace

int main(int argc, char** argv) {
    using namespace switchfold;  // NOLINT(google-build-using-namespace): the program itself
    use_huge_pages();
    // A file that may not grow further is an error to tell, not the end.
    std::signal(SIGXFSZ, SIG_IGN);
    CLI::App app{
        "switchfold simulates how collectives and compute share GPUs and the interconnect, and\n"
        "what a switch that reduces in flight gives back.\n\nExample:\n"
        "  switchfold run configs/experiments/example.json --out runs/example",
        "switchfold"};
    app.set_version_flag("--version", fmt::format("switchfold {}", version()));
    app.require_subcommand(1);
    app.fallthrough();  // -v may precede or follow the command
    Log log;
    log.add_options(app);
    Chosen chosen;
    add_run(app, chosen, log);
    add_sweep(app, chosen, log);
    add_report(app, chosen);
    add_energy(app, chosen);
    add_trace(app, chosen, log);
    add_plan(app, chosen, log);
    add_describe(app, chosen);
    add_schema(app, chosen);
    add_validate(app, chosen, log);
    add_calibrate(app, chosen, log);
    add_new(app, chosen);
    add_import(app, chosen);
    add_doctor(app, chosen);
    if (const std::string unknown = unknown_command(app, {argv + std::min(argc, 1), argv + argc});
        !unknown.empty()) {
        fmt::print(stderr, "switchfold: /: {}\n", unknown);
        return static_cast<int>(ExitCode::kBadInput);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        return bad_arguments(error.what());
    }
    try {
        const int code = chosen();
        flush_output();
        return code;
    } catch (const std::filesystem::filesystem_error& error) {
        const IoError told(error.path1().string(), error.code().value(), "look at it");
        fmt::print(stderr, "{}\n", told.what());
        return static_cast<int>(exit_code(told));
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return static_cast<int>(exit_code(error));
    }
}

// libsystemc exports main and leaves sc_main undefined; the main above is used.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}

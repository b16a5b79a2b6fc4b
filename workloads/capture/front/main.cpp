// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "workloads/capture/capture_file.h"
#include "workloads/capture/front/child.h"
#include "workloads/capture/front/plan.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

namespace switchfold::capture {

namespace {

namespace fs = std::filesystem;

void say(const std::string& line) {
    fmt::print(stderr, "switchfold-capture: {}\n", line);
}

/// Totals over all captures in the folder.
struct Held {
    std::size_t kernels = 0;
    std::size_t nccl_calls = 0;
    std::size_t counters = 0;
};

void summarise(const fs::path& path, Held& held) {
    const CaptureFile file = read_capture(path);
    held.kernels += file.kernels.size();
    held.nccl_calls += file.nccl_calls.size();
    held.counters += file.counters.size();
    say(fmt::format(
        "{}: rank {} of {}, {} kernels, {} copies, {} NVTX ranges, {} NCCL calls, {} kernels with "
        "counters",
        path.string(), file.session.rank, file.session.world_size, file.kernels.size(),
        file.copies.size(), file.ranges.size(), file.nccl_calls.size(), file.counters.size()));
    for (const std::string& loss : losses(file))
        say(fmt::format("{}: {}", path.filename().string(), loss));
}

/// What was requested but not captured; empty if nothing is missing.
std::string missing(const FrontOptions& options, const Held& held) {
    if (options.nccl_only)
        return held.nccl_calls == 0 ? "no call of NCCL" : "";
    if (held.kernels == 0)
        return "no kernel";
    return options.counters && held.counters == 0 ? "no kernel's counters" : "";
}

/// The command's exit code; kUnfinished if it succeeded but something requested was not captured.
int capture(const FrontOptions& options) {
    const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
    const Environment environment = process_environment();
    // Check both before the first run, which may take hours.
    const Variables timing = capture_variables(options, folder, environment, false);
    const Variables counting = capture_variables(options, folder, environment, true);
    prepare_output(options.out);
    int code = run_child(options.command, timing);
    if (code == 0 && options.counters) {
        say("the command again, for counters");
        code = run_child(options.command, counting);
    }
    Held held;
    for (const fs::path& file : captures_in(options.out))
        summarise(file, held);
    if (code != 0) {
        say(fmt::format("the command ended with code {}", code));
        return code;
    }
    if (const std::string what = missing(options, held); !what.empty()) {
        say(fmt::format("captured {}: the command used none, or the messages above say why", what));
        return static_cast<int>(ExitCode::kUnfinished);
    }
    return code;
}

int guarded(const FrontOptions& options) {
    try {
        return capture(options);
    } catch (const std::exception& error) {
        say(error.what());
        return static_cast<int>(exit_code(error));
    }
}

int run(int argc, char** argv) {
    CLI::App app(
        "Runs a CUDA program and records its kernels, copies, calls, NVTX ranges and NCCL calls, "
        "one file a rank.\n\nExample:\n  switchfold-capture --out run1 -- torchrun "
        "--nproc-per-node 8 train.py\n  switchfold trace convert run1/*.sfcapture --out "
        "run1.trace");
    FrontOptions options;
    app.add_option("--out", options.out, "Folder for the captures")->capture_default_str();
    app.add_flag(
        "--counters", options.counters,
        "Run the command a second time and count the DRAM bytes of each kernel");
    app.add_flag("--nccl-only", options.nccl_only, "Record NCCL's calls alone, without CUPTI");
    app.add_option("--cupti", options.cupti, "libcupti.so.13, if it is not where CUDA puts it");
    app.add_option("COMMAND", options.command, "The program and its arguments, after --")
        ->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : static_cast<int>(ExitCode::kBadInput);
    }
    if (options.counters && options.nccl_only) {
        say("--counters needs CUPTI; expected it without --nccl-only");
        return static_cast<int>(ExitCode::kBadInput);
    }
    return guarded(options);
}

}  // namespace

}  // namespace switchfold::capture

int main(int argc, char** argv) {
    return switchfold::capture::run(argc, argv);
}

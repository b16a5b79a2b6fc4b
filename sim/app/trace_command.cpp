// SPDX-License-Identifier: Apache-2.0
#include "sim/app/commands.h"
#include "sim/app/log.h"
#include "sim/app/trace_output.h"
#include "sim/core/units.h"
#include "sim/core/version.h"
#include "workloads/readers/read_traces.h"
#include "workloads/readers/trace_format/trace_file.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

namespace switchfold {

namespace {

struct TraceArguments {
    std::vector<std::string> files;
    std::string out;
    bool json = false;
};

TraceWorkload read(const TraceArguments& arguments, const Log& log) {
    ReadOptions options;
    options.files.assign(arguments.files.begin(), arguments.files.end());
    log.step(fmt::format("reading {}", fmt::join(arguments.files, ", ")));
    TraceWorkload workload = read_traces(options);
    check(workload.graph);
    return workload;
}

void append(std::vector<Problem>& problems, std::vector<Problem> more) {
    problems.insert(problems.end(), more.begin(), more.end());
}

/// All problems of the traces. Missing ranks are a problem only if there are several traces, since
/// a single one may represent all ranks.
std::vector<Problem> problems_of(const TraceWorkload& workload, const RankAlignment& alignment) {
    std::vector<Problem> problems = impossible_orders(workload);
    append(problems, alignment.problems);
    if (workload.files.size() > 1 && !alignment.missing_ranks.empty())
        problems.push_back(
            {workload.files.front().file,
             "",
             fmt::format(
                 "is of a run of {} ranks, and no trace is of rank {}; expected a trace of each, "
                 "or one that stands for all",
                 workload.files.front().world_size,
                 listed(alignment.missing_ranks))});
    return problems;
}

/// "can be replayed", with a remark if something had to be repaired.
std::string verdict(const TraceWorkload& workload, bool replayable) {
    if (!replayable)
        return "cannot be trusted";
    std::uint64_t mended = 0;
    for (const TraceFileReport& file : workload.files)
        for (const auto& [what, count] : file.mended)
            mended += count;
    return mended == 0
               ? "can be replayed"
               : fmt::format(
                     "can be replayed, {} contradiction{} mended", mended, mended == 1 ? "" : "s");
}

void print_check(const TraceWorkload& workload, const RankAlignment& alignment, bool replayable) {
    for (const TraceFileReport& file : workload.files) {
        print_machine(file);
        print_losses(file);
        if (file.world_size > 1 && workload.files.size() == 1)
            fmt::print(
                "  note: one of {} ranks; an experiment that gives \"ranks\" lets it stand for "
                "all\n",
                file.world_size);
    }
    if (workload.files.size() > 1)
        print_alignment(alignment, workload);
    fmt::print("  verdict: {}\n", verdict(workload, replayable));
}

int check_traces(const TraceArguments& arguments, const Log& log) {
    const TraceWorkload workload = read(arguments, log);
    const RankAlignment alignment = align_ranks(workload);
    std::vector<Problem> problems = problems_of(workload, alignment);
    if (arguments.json) {
        OrderedJson out{{"verdict", verdict(workload, problems.empty())}};
        out["problems"] = to_json(problems);
        out["files"] = OrderedJson::array();
        for (const TraceFileReport& file : workload.files)
            out["files"].push_back(to_json(file));
        out["together"] = to_json(alignment, workload);
        fmt::print("{}\n", out.dump(2));
    } else {
        print_check(workload, alignment, problems.empty());
    }
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    return 0;
}

int inspect_traces(const TraceArguments& arguments, const Log& log) {
    const TraceWorkload workload = read(arguments, log);
    const RankAlignment alignment = align_ranks(workload);
    const double iteration = to_microseconds(workload.graph.provenance.measured_iteration);
    OrderedJson out{
        {"iteration_us", iteration > 0 ? OrderedJson(iteration) : OrderedJson()},
        {"ranks", OrderedJson::array()}};
    for (std::size_t r = 0; r < workload.files.size(); ++r) {
        const TraceSummary summary = summarise(workload, r);
        if (arguments.json) {
            OrderedJson rank = to_json(workload.files[r]);
            rank.update(to_json(summary));
            out["ranks"].push_back(std::move(rank));
            continue;
        }
        print_machine(workload.files[r]);
        print_losses(workload.files[r]);
        if (iteration > 0)
            fmt::print("  iteration: {:.1f} us\n", iteration);
        print_summary(summary, workload.files[r]);
    }
    if (arguments.json) {
        out["together"] = to_json(alignment, workload);
        fmt::print("{}\n", out.dump(2));
    } else if (workload.files.size() > 1) {
        print_alignment(alignment, workload);
    }
    return 0;
}

int convert_traces(const TraceArguments& arguments, const Log& log) {
    const TraceWorkload workload = read(arguments, log);
    log.step(fmt::format("writing {}", arguments.out));
    write_trace(workload, arguments.out, fmt::format("switchfold {}", version()));
    return 0;
}

}  // namespace

void add_trace(CLI::App& app, Chosen& chosen, const Log& log) {
    CLI::App* command = app.add_subcommand(
        "trace",
        "Look at traces of any kind, and write them in switchfold's own format (docs/traces.md).");
    command->require_subcommand(1);
    using Action = int (*)(const TraceArguments&, const Log&);
    const auto add = [&](const char* name, const char* text, Action action) {
        auto arguments = std::make_shared<TraceArguments>();
        CLI::App* sub = command->add_subcommand(name, text);
        sub->add_option("FILE", arguments->files, "Traces of one run, one a rank")->required();
        sub->callback([arguments, action, &chosen, &log] {
            chosen = [arguments, action, &log] { return action(*arguments, log); };
        });
        return std::pair(sub, arguments);
    };
    const auto [inspect, inspected] =
        add("inspect",
            "Print machine, phases, collectives, overlap and the largest kernels.\n\nExample:\n  "
            "switchfold trace inspect rank0.json.gz",
            inspect_traces);
    inspect->add_flag("--json", inspected->json, "Print JSON");
    const auto [check, checked] =
        add("check",
            "Say whether traces can be replayed and what of them is lost.\n\nExample:\n  "
            "switchfold trace check rank0.json.gz rank1.json.gz",
            check_traces);
    check->add_flag("--json", checked->json, "Print JSON");
    const auto [convert, converted] =
        add("convert",
            "Write traces as one file in switchfold's own format (docs/trace_format.md).\n\n"
            "Example:\n  switchfold trace convert rank0.json.gz rank1.json.gz --out run.swt",
            convert_traces);
    convert->add_option("--out", converted->out, "The file to write; .jsonl: not compressed")
        ->required();
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/log.h"
#include "app/named_system.h"
#include "app/trace_output.h"
#include "core/error.h"
#include "core/gibibytes.h"
#include "core/json.h"
#include "core/units.h"
#include "core/version.h"
#include "sim/config/load.h"
#include "sim/nccl_choices.h"
#include "sim/workload/workload.h"
#include "training/memory/accounting/graph_memory.h"
#include "workloads/graph/spread.h"
#include "workloads/profile/assumptions.h"
#include "workloads/profile/whole_run.h"
#include "workloads/readers/chakra/write.h"
#include "workloads/readers/read_traces.h"
#include "workloads/readers/trace_format/trace_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace switchfold {

namespace {

struct TraceArguments {
    std::vector<std::string> files;
    std::string out;
    std::string to = "switchfold";
    std::string system;  ///< empty: none
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

/// What `run` would make of the traces.
struct Trial {
    std::vector<Problem> problems;         ///< why they cannot be replayed
    std::vector<Problem> on_system;        ///< why the given system cannot run them
    std::vector<std::string> assumptions;  ///< with which they can
};

std::string together(const std::vector<std::string>& files) {
    return fmt::format("{}", fmt::join(files, ", "));
}

/// Operations of all ranks together that are followed to their end: some gigabytes and a minute.
constexpr std::uint64_t kMostFollowed = 20'000'000;

/// Makes a whole run of the traces as `run` does, and follows it to its end with and without
/// overlap. One trace of several ranks stands for all.
void try_run(
    const TraceArguments& arguments, std::uint32_t ranks, TraceWorkload& workload, Trial& trial) {
    const std::string files = together(arguments.files);
    const TraceFileReport& first = workload.files.front();
    const std::uint64_t operations =
        std::uint64_t{workload.graph.ranks.front()->operations.size()} * ranks;
    if (workload.files.size() == 1 && operations > kMostFollowed) {
        for (std::string& why : why_not_spread(workload.graph, first.rank, ranks, ranks))
            trial.problems.push_back({files, "", std::move(why)});
        trial.assumptions.push_back(fmt::format(
            "one rank stands for all {}: its process groups can be laid out, but {} operations are "
            "too many to follow here, so only the run shows whether all ranks end",
            ranks, operations));
        return;
    }
    WholeRun whole = complete_run(workload, ranks, workload.files.size() == 1);
    for (std::string& problem : whole.problems)
        trial.problems.push_back({files, "", std::move(problem)});
    if (!whole.problems.empty())
        return;
    for (std::string& note : whole.notes)
        trial.assumptions.push_back(std::move(note));
    const Impossible impossible = impossible_runs(workload.graph);
    for (const std::string& why : impossible.overlapped)
        trial.problems.push_back(
            {files, "",
             fmt::format(
                 "do not end: {}; expected the same calls in an order that ends: were the traces "
                 "cut at the same step?",
                 why)});
    if (impossible.overlapped.empty() && !impossible.serial.empty())
        trial.assumptions.push_back(fmt::format(
            "without overlap the run does not end ({}): only scenarios with overlap are possible",
            impossible.serial.front()));
}

/// Prepares the experiment that `new experiment` would write for them, on a system.
void try_on_system(const TraceArguments& arguments, std::uint32_t ranks, Trial& trial) {
    const std::filesystem::path system = named_system(arguments.system);
    Json experiment{
        {"name", "trial"},
        {"system", std::filesystem::absolute(system).string()},
        {"workload", {{"type", "trace"}, {"ranks", ranks}}}};
    for (const std::string& file : arguments.files)
        experiment["workload"]["files"].push_back(std::filesystem::absolute(file).string());
    try {
        const LoadedExperiment loaded =
            load_experiment(experiment, std::filesystem::absolute("trial.json"), {});
        const PreparedWorkload prepared = prepare_workload(loaded);
        for (const std::string& note : prepared.report.notes)
            if (std::find(trial.assumptions.begin(), trial.assumptions.end(), note) ==
                trial.assumptions.end())
                trial.assumptions.push_back(note);
    } catch (const ConfigError& error) {
        for (const Problem& problem : error.problems())
            trial.on_system.push_back(
                {together(arguments.files), "",
                 fmt::format("on {}: {}", arguments.system, problem.message)});
    }
}

Trial try_out(
    const TraceArguments& arguments, const RankAlignment& alignment, TraceWorkload& workload) {
    Trial trial;
    trial.problems = impossible_orders(workload);
    append(trial.problems, alignment.problems);
    trial.assumptions = assumptions_of(workload.files);
    if (workload.files.size() == 1 && workload.files.front().world_size > 1)
        trial.assumptions.push_back(fmt::format(
            "one of {} ranks: an experiment that gives \"ranks\" lets it stand for all",
            workload.files.front().world_size));
    std::uint32_t ranks = 1;
    for (const TraceFileReport& file : workload.files)
        ranks = std::max(ranks, file.world_size);
    try_run(arguments, ranks, workload, trial);
    if (trial.problems.empty() && !arguments.system.empty())
        try_on_system(arguments, ranks, trial);
    return trial;
}

/// "replayable", "replayable with 2 assumptions" or "cannot be trusted"; where the given system
/// cannot run them, the first two say so.
std::string verdict(const Trial& trial, const TraceArguments& arguments) {
    if (!trial.problems.empty())
        return "cannot be trusted";
    const std::size_t count = trial.assumptions.size();
    std::string words =
        count == 0 ? "replayable"
                   : fmt::format("replayable with {} assumption{}", count, count == 1 ? "" : "s");
    if (!trial.on_system.empty())
        words += fmt::format(", but not on {}", arguments.system);
    return words;
}

LeastMemory least_memory_of(const TraceWorkload& traced, std::size_t rank) {
    return with_allocations(
        least_memory(traced.graph, *traced.graph.ranks[rank]), traced.files[rank]);
}

int check_traces(const TraceArguments& arguments, const Log& log) {
    TraceWorkload workload = read(arguments, log);
    const RankAlignment alignment = align_ranks(workload);
    const TraceWorkload traced = workload;  // the trial makes a whole run of it
    Trial trial = try_out(arguments, alignment, workload);
    if (arguments.json) {
        OrderedJson out{{"verdict", verdict(trial, arguments)}};
        std::vector<Problem> problems = trial.problems;
        append(problems, trial.on_system);
        out["problems"] = to_json(problems);
        out["assumptions"] = trial.assumptions;
        out["files"] = OrderedJson::array();
        for (std::size_t r = 0; r < traced.files.size(); ++r) {
            OrderedJson file = to_json(traced.files[r]);
            const LeastMemory least = least_memory_of(traced, r);
            file["least_memory"] = {{"bytes", least.bytes}, {"what", least.what}};
            out["files"].push_back(std::move(file));
        }
        out["together"] = to_json(alignment, traced);
        fmt::print("{}\n", out.dump(2));
    } else {
        for (std::size_t r = 0; r < traced.files.size(); ++r) {
            const TraceFileReport& file = traced.files[r];
            print_machine(file);
            if (const LeastMemory least = least_memory_of(traced, r); least.bytes > 0)
                fmt::print(
                    "  needs at least {:.2f} GiB of memory: {}\n",
                    in_gibibytes(static_cast<double>(least.bytes)), least.what);
            print_losses(file);
        }
        if (traced.files.size() > 1)
            print_alignment(alignment, traced);
        fmt::print("  verdict: {}\n", verdict(trial, arguments));
        for (const std::string& assumption : trial.assumptions)
            fmt::print("    - {}\n", assumption);
    }
    append(trial.problems, std::move(trial.on_system));
    if (!trial.problems.empty())
        throw ConfigError(std::move(trial.problems));
    return 0;
}

/// NCCL's log is none of a run's events, and says what was chosen.
bool begins_as_nccl_log(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    constexpr std::size_t kEnough = 1U << 16U;
    std::string beginning(kEnough, '\0');
    in.read(beginning.data(), static_cast<std::streamsize>(kEnough));
    beginning.resize(static_cast<std::size_t>(in.gcount()));
    return is_nccl_log(beginning);
}

int inspect_traces(const TraceArguments& arguments, const Log& log) {
    if (arguments.files.size() == 1 && begins_as_nccl_log(arguments.files.front())) {
        const NcclLog told = read_nccl_log(arguments.files.front());
        const std::string text = arguments.system.empty()
                                     ? describe_nccl_log(told)
                                     : compare_nccl_log(told, named_system(arguments.system));
        std::fwrite(text.data(), 1, text.size(), stdout);
        return 0;
    }
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
    if (arguments.to == "chakra") {
        const WrittenChakra written = write_chakra(workload, arguments.out);
        fmt::print(
            "{} graphs: {}{}\n", written.graphs.size(), written.graphs.front().string(),
            written.graphs.size() > 1 ? ", ..." : "");
        if (!written.groups.empty())
            fmt::print("process groups: {}\n", written.groups.string());
        for (const std::string& note : written.notes)
            fmt::print("  - {}\n", note);
        return 0;
    }
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
    inspect->add_option(
        "--system", inspected->system,
        "Of NCCL's log: the system that would choose as it did, a file or a name of "
        "configs/systems");
    const auto [check, checked] =
        add("check",
            "Say whether traces can be replayed, with which assumptions, and what of them is lost: "
            "it tries what `run` does.\n\nExample:\n  "
            "switchfold trace check rank0.json.gz rank1.json.gz --system hgx_h100",
            check_traces);
    check->add_option(
        "--system", checked->system,
        "Try them on this system: a file, or a name of configs/systems (hgx_h100)");
    check->add_flag("--json", checked->json, "Print JSON");
    const auto [convert, converted] =
        add("convert",
            "Write traces as one file in switchfold's own format (docs/traces.md#our-own-format), "
            "or as graphs of MLCommons Chakra.\n\nExamples:\n"
            "  switchfold trace convert rank0.json.gz rank1.json.gz --out run.swt\n"
            "  switchfold trace convert run.swt --to chakra --out run",
            convert_traces);
    convert
        ->add_option(
            "--out", converted->out,
            "The file to write; .jsonl: not compressed. Of Chakra: what comes before .0.et, .1.et, "
            "...")
        ->required();
    convert->add_option("--to", converted->to, "switchfold, or chakra, which ASTRA-sim reads")
        ->check(CLI::IsMember({"switchfold", "chakra"}));
}

}  // namespace switchfold

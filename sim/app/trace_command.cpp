// SPDX-License-Identifier: Apache-2.0
#include "sim/app/commands.h"
#include "sim/app/log.h"
#include "sim/core/units.h"
#include "sim/core/version.h"
#include "workloads/read_traces.h"
#include "workloads/trace_format/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace switchfold {

namespace {

void print_counts(const char* title, const std::map<std::string, std::uint64_t>& counts) {
    if (counts.empty())
        return;
    fmt::print("  {}:\n", title);
    for (const auto& [what, count] : counts)
        fmt::print("    {:>10}  {}\n", count, what);
}

void print_file(const TraceFileReport& file) {
    fmt::print(
        "{}\n  {}, rank {} of {}, {} step{}, {} streams\n  {} kernels, {} collectives, {} copies\n",
        file.file,
        file.gpu_name.empty() ? "unknown GPU" : file.gpu_name,
        file.rank,
        file.world_size,
        file.steps,
        file.steps == 1 ? "" : "s",
        file.streams,
        file.kernels,
        file.collectives,
        file.copies);
    if (file.synthetic)
        fmt::print("  synthetic: no real run behind it\n");
    fmt::print("  {} events\n", file.events);
    print_counts("used", file.used);
    print_counts("dropped, by reason", file.dropped);
    for (const std::string& warning : file.warnings)
        fmt::print("  note: {}\n", warning);
}

int check_traces(const std::vector<std::string>& files, const Log& log) {
    for (const std::string& file : files) {
        log.step(fmt::format("reading {}", file));
        const TraceWorkload workload = read_traces({{file}});
        check(workload.graph);
        print_file(workload.files.front());
        fmt::print("  verdict: can be replayed\n");
    }
    return 0;
}

void print_phases(const ExecutionGraph& graph) {
    std::map<std::string_view, std::pair<std::uint64_t, double>> phases;
    std::map<std::uint64_t, std::pair<std::uint64_t, double>> sizes;
    for (const Operation& operation : graph.ranks.front()->operations) {
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
            auto& [count, us] = phases[to_string(operation.phase)];
            ++count;
            us += to_microseconds(kernel->measured);
        } else if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
            auto& [count, us] = sizes[c->bytes.count()];
            ++count;
            us += to_microseconds(c->measured);
        }
    }
    fmt::print("  kernel time by phase:\n");
    for (const auto& [phase, value] : phases)
        fmt::print("    {:>12.1f} us  {:>6} kernels  {}\n", value.second, value.first, phase);
    if (!sizes.empty())
        fmt::print("  collectives by size:\n");
    for (const auto& [bytes, value] : sizes)
        fmt::print(
            "    {:>12.1f} us  {:>6} of {}\n",
            value.second,
            value.first,
            bytes == 0 ? "unknown size" : to_string(Bytes(bytes)));
}

void print_top_kernels(const ExecutionGraph& graph) {
    std::map<std::uint32_t, std::pair<std::uint64_t, double>> by_name;
    for (const Operation& operation : graph.ranks.front()->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
            auto& [count, us] = by_name[operation.name];
            ++count;
            us += to_microseconds(kernel->measured);
        }
    std::vector<std::pair<double, std::uint32_t>> order;
    for (const auto& [name, value] : by_name)
        order.emplace_back(-value.second, name);
    std::sort(order.begin(), order.end());
    constexpr std::size_t kShown = 8;
    constexpr std::size_t kWidth = 90;
    fmt::print("  kernels that take most:\n");
    for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i)
        fmt::print(
            "    {:>12.1f} us  {:>6} x {}\n",
            -order[i].first,
            by_name[order[i].second].first,
            graph.names[order[i].second].substr(0, kWidth));
}

int inspect_traces(const std::vector<std::string>& files, const Log& log) {
    for (const std::string& file : files) {
        log.step(fmt::format("reading {}", file));
        const TraceWorkload workload = read_traces({{file}});
        print_file(workload.files.front());
        fmt::print(
            "  iteration: {:.1f} us\n",
            to_microseconds(workload.graph.provenance.measured_iteration));
        print_phases(workload.graph);
        print_top_kernels(workload.graph);
        print_counts("isolated durations of kernels, by source", workload.files.front().durations);
        print_counts("bytes of kernels, by source", workload.files.front().bytes);
    }
    return 0;
}

void add_convert(CLI::App& command, Chosen& chosen, const Log& log) {
    struct Arguments {
        std::vector<std::string> files;
        std::string out;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* sub = command.add_subcommand(
        "convert",
        "Write traces, one a rank, as one file in switchfold's own format "
        "(docs/trace_format.md).\n\nExample:\n  switchfold trace convert rank0.json.gz "
        "rank1.json.gz --out run.swt");
    sub->add_option("FILE", arguments->files, "Traces, one a rank")->required();
    sub->add_option("--out", arguments->out, "The file to write; .jsonl: not compressed")
        ->required();
    sub->callback([arguments, &chosen, &log] {
        chosen = [arguments, &log] {
            ReadOptions options;
            options.files.assign(arguments->files.begin(), arguments->files.end());
            log.step(fmt::format("reading {} traces", options.files.size()));
            const TraceWorkload workload = read_traces(options);
            check(workload.graph);
            log.step(fmt::format("writing {}", arguments->out));
            write_trace(workload, arguments->out, fmt::format("switchfold {}", version()));
            return 0;
        };
    });
}

}  // namespace

void add_trace(CLI::App& app, Chosen& chosen, const Log& log) {
    CLI::App* command = app.add_subcommand("trace", "Look at traces.");
    command->require_subcommand(1);
    const auto add = [&](const char* name,
                         const char* text,
                         int (*action)(const std::vector<std::string>&, const Log&)) {
        auto files = std::make_shared<std::vector<std::string>>();
        CLI::App* sub = command->add_subcommand(name, text);
        sub->add_option("FILE", *files, "Kineto trace (.json or .json.gz)")->required();
        sub->callback([files, action, &chosen, &log] {
            chosen = [files, action, &log] { return action(*files, log); };
        });
    };
    add("inspect",
        "Print machine, phases, collectives and the largest kernels.\n\nExample:\n  switchfold "
        "trace inspect rank0.json.gz",
        inspect_traces);
    add("check",
        "Say whether a trace can be replayed and what of it is lost.\n\nExample:\n  switchfold "
        "trace check rank0.json.gz",
        check_traces);
    add_convert(*command, chosen, log);
}

}  // namespace switchfold

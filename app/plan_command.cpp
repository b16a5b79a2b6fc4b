// SPDX-License-Identifier: Apache-2.0
#include "app/batch_plan.h"
#include "app/commands.h"
#include "app/log.h"
#include "app/memory_plan_report.h"
#include "core/error.h"
#include "core/units.h"
#include "sim/config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

namespace switchfold {

namespace {

struct MemoryPlanArguments {
    std::string file;
    std::vector<std::string> set;
    std::vector<std::string> memory;
    std::string granule;
    std::string updates;
    bool bounds = false;
    bool json = false;
};

std::uint64_t bytes_of(const std::string& text, const char* option) {
    try {
        return parse_bytes(text).count();
    } catch (const std::invalid_argument& error) {
        throw ConfigError(option, "", error.what());
    }
}

/// The requested sizes; otherwise some around the network's needs, and the GPU's size.
std::vector<std::uint64_t>
sizes_of(const MemoryPlanArguments& arguments, const MemoryWorkload& workload) {
    std::vector<std::uint64_t> sizes;
    for (const std::string& text : arguments.memory)
        sizes.push_back(bytes_of(text, "--memory"));
    if (sizes.empty()) {
        constexpr std::size_t kMany = 5;
        sizes = interesting_memories(workload.schedule, kMany);
        if (workload.capacity > 0)
            sizes.push_back(workload.capacity);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

std::vector<SimulatedMemoryPlan> simulated(
    const MemoryChoice& choice, const LoadedExperiment& loaded, const MemoryComparison& comparison,
    const Log& log) {
    SimulatedMemoryOptions options;
    options.choice = choice;
    for (const ComparedMemory& compared : comparison.memories)
        options.memories.push_back(compared.memory);
    options.run = [&log](std::span<const Job> jobs, const JobEnded& ended) {
        log.step(fmt::format("simulating {} plans", jobs.size()));
        run_jobs(jobs, std::max(1U, std::thread::hardware_concurrency()), {}, ended);
    };
    return simulate_memory_plans(loaded, options);
}

std::optional<UpdatePolicy> updates_of(const MemoryPlanArguments& arguments) {
    if (arguments.updates.empty())
        return std::nullopt;
    return arguments.updates == "batch" ? UpdatePolicy::kBatch : UpdatePolicy::kImmediate;
}

int plan_memory_of(const MemoryPlanArguments& arguments, const Log& log) {
    std::vector<Override> overrides;
    for (const std::string& text : arguments.set)
        overrides.push_back(parse_override(text));
    OptimalOptions optimal;
    if (!arguments.granule.empty())
        optimal.granule = bytes_of(arguments.granule, "--granule");
    if (optimal.granule == 0)
        throw ConfigError("--granule", "", "is 0 B; expected 1 B or more");
    log.step(fmt::format("reading {}", arguments.file));
    const LoadedExperiment loaded = load_experiment(arguments.file, overrides);
    MemoryChoice choice = memory_choice_of(loaded, updates_of(arguments));
    if (!arguments.granule.empty())
        choice.granule = Bytes(optimal.granule);
    optimal.granule = choice.granule.count();
    const MemoryWorkload workload = memory_workload(loaded, choice);
    MemoryComparison comparison;
    for (const std::uint64_t size : sizes_of(arguments, workload)) {
        log.step(fmt::format("planning for {}", to_string(Bytes(size))));
        comparison.memories.push_back(
            compare_planners(workload.schedule, size, workload.rates, optimal));
        find_largest_batches(
            comparison.memories.back(), workload.schedule_of, workload.batch, workload.rates,
            optimal);
    }
    if (!arguments.bounds)
        comparison.simulated = simulated(choice, loaded, comparison, log);
    comparison.updates = compare_updates(workload);
    comparison.recomputes = compare_recompute(workload);
    const std::string text = arguments.json ? memory_plan_json(workload, comparison)
                                            : memory_plan_text(workload, comparison);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return static_cast<int>(ExitCode::kDone);
}

}  // namespace

void add_plan(CLI::App& app, Chosen& chosen, const Log& log) {
    auto arguments = std::make_shared<MemoryPlanArguments>();
    CLI::App* plan = app.add_subcommand(
        "plan",
        "Find the fastest plan that fits: data, tensor and pipeline parallelism, sharding, "
        "schedule, micro-batch, recomputation, memory, collectives. plan memory compares plans of "
        "memory.\n\nExample:\n"
        "  switchfold plan configs/experiments/plan_gpt_hgx_h100.json --out runs/plan");
    plan->require_subcommand(0, 1);
    add_plan_batch(*plan, chosen);
    add_planner(*plan, chosen, log);
    CLI::App* command = plan->add_subcommand(
        "memory",
        "Compare planners of memory, by size of memory: which data stay on the GPU and which are "
        "offloaded, the distance from the optimum, and the time of a run. Then the memory that "
        "update policies need for gradients, and the time that recomputation costs.\n\nExample:\n"
        "  switchfold plan memory configs/experiments/vgg16_memory.json --memory \"8 GiB\"");
    command->add_option("EXPERIMENT", arguments->file, "Experiment (JSON); -: standard input")
        ->required();
    command
        ->add_option(
            "--set", arguments->set, "Replace a value: /json/pointer=VALUE; may be repeated")
        ->allow_extra_args(false);
    command
        ->add_option(
            "--memory", arguments->memory,
            "GPU memory for everything, such as \"8 GiB\"; may be repeated. Default: a few sizes "
            "and the GPU's")
        ->allow_extra_args(false);
    command->add_option(
        "--granule", arguments->granule,
        "The exact programme rounds sizes up to multiples of it. Default: the experiment's plan");
    command
        ->add_option(
            "--updates", arguments->updates,
            "batch: after the backward pass; backward: layer by layer within it. Default: the "
            "experiment's plan")
        ->check(CLI::IsMember({"batch", "backward"}));
    command->add_flag(
        "--bounds", arguments->bounds,
        "Print bounds on the times only, instead of simulating each plan in the first scenario "
        "that overlaps");
    command->add_flag("--json", arguments->json, "Print JSON");
    command->callback([arguments, &chosen, &log] {
        chosen = [arguments, &log] { return plan_memory_of(*arguments, log); };
    });
}

}  // namespace switchfold

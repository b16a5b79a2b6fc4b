// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/described_system.h"
#include "app/named_system.h"
#include "app/start_files.h"
#include "core/error.h"
#include "core/named_path.h"
#include "sim/config/load.h"
#include "sim/machine/system_queries.h"
#include "sim/output/replaced_file.h"
#include "validation/harness/root.h"
#include "workloads/graph/spread.h"
#include "workloads/profile/whole_run.h"
#include "workloads/readers/read_traces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

namespace {

/// What the traces say of the run that they are of. The file to write runs on the system's GPUs.
void ask_traces(StartChoice& choice, const SystemParams& system) {
    ReadOptions options;
    options.files.assign(choice.traces.begin(), choice.traces.end());
    TraceWorkload workload = read_traces(options);
    std::uint32_t ranks = 1;
    for (const TraceFileReport& file : workload.files)
        ranks = std::max(ranks, file.world_size);
    const bool stands_for_all = workload.files.size() == 1;
    const std::uint32_t gpus = gpus_of(system);
    if (ranks > gpus && !stands_for_all)
        throw ConfigError(
            "--system", "",
            fmt::format(
                "is {} with {} GPUs, but the traces come from a run of {} ranks; expected a system "
                "with at least as many GPUs",
                system.name, gpus, ranks));
    choice.ranks = std::min(ranks, gpus);
    const TraceFileReport& first = workload.files.front();
    const std::vector<std::string> problems =
        stands_for_all ? why_not_spread(workload.graph, first.rank, first.world_size, choice.ranks)
                       : complete_run(workload, choice.ranks, false).problems;
    if (!problems.empty())
        throw ConfigError(fmt::format("{}", fmt::join(choice.traces, ", ")), "", problems.front());
    if (const std::string& gpu = workload.files.front().gpu_name; !gpu.empty() && ranks > 1)
        choice.traced_on = fmt::format("{} ranks on {}", ranks, gpu);
}

void write_new(const std::filesystem::path& path, const std::string& text) {
    if (std::filesystem::exists(path))
        throw ConfigError(path.string(), "", "exists already; expected the name of a new file");
    replace_file(path, text);
}

/// One machine, or a cluster of several that are alike.
int write_described(
    std::vector<DescribedMachine> machines, const std::vector<std::filesystem::path>& files,
    const std::string& lspci, SystemChoice choice, const std::filesystem::path& out) {
    if (!lspci.empty())
        for (DescribedMachine& machine : machines)
            add_lspci(machine, lspci);
    choice.folder = out.has_parent_path() ? out.parent_path() : std::filesystem::path(".");
    choice.schemas = path_to_write(choice.folder, validation::find_root({}) / "configs" / "schema");
    if (machines.size() > 1) {
        if (out.empty())
            throw ConfigError(
                "--out", "",
                "is missing; expected the name of the cluster's file, beside which the machine's "
                "goes");
        const std::filesystem::path machine =
            choice.folder / (out.stem().string() + ".machine.json");
        const std::string cluster = described_cluster(machines, {files, machine}, choice);
        SystemChoice one = choice;
        one.whole = true;
        one.name = (choice.name.empty() ? "my" : choice.name) + "_machine";
        const std::string text = described_system(machines.front(), one);
        if (std::filesystem::exists(out))
            throw ConfigError(out.string(), "", "exists already; expected the name of a new file");
        write_new(machine, text);
        write_new(out, cluster);
        return 0;
    }
    const std::string text = described_system(machines.front(), choice);
    if (out.empty())
        std::fwrite(text.data(), 1, text.size(), stdout);
    else
        write_new(out, text);
    return 0;
}

}  // namespace

void add_new(CLI::App& app, Chosen& chosen) {
    struct Arguments {
        std::string kind;
        std::filesystem::path out;
        std::string system;
        StartChoice choice;
        std::string experiment;
        std::vector<std::filesystem::path> nccl_topology;
        std::string nvidia_smi;
        std::string lspci;
        std::string gpu;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "new", "Write a commented file to start from.\n\nExample:\n"
               "  switchfold new experiment --workload training --network vgg16 -o mine.json && "
               "switchfold run mine.json");
    command->add_option("KIND", arguments->kind, "experiment, system or sweep")
        ->required()
        ->check(CLI::IsMember(start_kinds()));
    command->add_option("-o,--out", arguments->out, "File to write. Default: standard output");
    command->add_option("--name", arguments->choice.name, "What reports call it");
    command->add_option(
        "--system", arguments->system,
        "System that it runs on or begins from: a file, or a name of configs/systems "
        "(hgx_h100)");
    command
        ->add_option(
            "--workload", arguments->choice.workload,
            "Of an experiment: collective, kernel_beside_collective, trace or training (trace with "
            "--trace, training with --network, else collective)")
        ->check(CLI::IsMember({"collective", "kernel_beside_collective", "trace", "training"}));
    command->add_option(
        "--trace", arguments->choice.traces,
        "Traces of a trace workload; their number of ranks is taken");
    command->add_option(
        "--network", arguments->choice.network, "Network of a training workload (resnet50)");
    command->add_option("--experiment", arguments->experiment, "Experiment that a sweep varies");
    command->add_option(
        "--nccl-topology", arguments->nccl_topology,
        "A system from NCCL's topology (NCCL_TOPO_DUMP_FILE); of a cluster, a file a machine");
    command->add_option(
        "--nvidia-smi", arguments->nvidia_smi, "A system from what nvidia-smi topo -m prints");
    command->add_option("--lspci", arguments->lspci, "The names of its GPUs, from lspci -nn");
    command->add_option(
        "--gpu", arguments->gpu, "Their name, as torch, nvidia-smi or rocm-smi prints it");
    command->callback([arguments, &chosen] {
        chosen = [arguments] {
            const bool described =
                !arguments->nccl_topology.empty() || !arguments->nvidia_smi.empty();
            if (described || !arguments->lspci.empty() || !arguments->gpu.empty()) {
                if (arguments->kind != "system" || !described ||
                    (!arguments->nccl_topology.empty() && !arguments->nvidia_smi.empty()))
                    throw ConfigError(
                        described ? "KIND" : "--gpu", "",
                        "describes a machine; expected new system with --nccl-topology or "
                        "--nvidia-smi");
                const bool by_nccl = !arguments->nccl_topology.empty();
                std::vector<std::filesystem::path> files = arguments->nccl_topology;
                std::vector<DescribedMachine> machines;
                for (const auto& file : files)
                    machines.push_back(read_nccl_topology(file));
                if (!by_nccl) {
                    files.emplace_back(arguments->nvidia_smi);
                    machines.push_back(read_nvidia_smi_topology(arguments->nvidia_smi));
                }
                return write_described(
                    std::move(machines), files, arguments->lspci,
                    {arguments->choice.name,
                     arguments->gpu,
                     by_nccl ? "NCCL's topology" : "nvidia-smi topo -m",
                     {},
                     {},
                     false},
                    arguments->out);
            }
            StartChoice choice = arguments->choice;
            const auto configs = validation::find_root({}) / "configs";
            auto folder = arguments->out.parent_path();
            if (folder.empty())
                folder = ".";
            const std::string system = arguments->system.empty() ? "hgx_h100" : arguments->system;
            const std::filesystem::path path = named_system(system);
            if (!load_any_system(path, {}).has_gpus())
                throw ConfigError(
                    path.string(), "/devices",
                    "has no GPUs; expected a system with GPUs: a workload on other devices begins "
                    "with configs/experiments/autoencoder_on_phi.json");
            choice.system = path_to_write(folder, path);
            choice.schemas = path_to_write(folder, configs / "schema");
            if (!arguments->experiment.empty())
                choice.experiment = path_to_write(folder, arguments->experiment);
            if (choice.workload.empty())
                choice.workload = !choice.traces.empty()    ? "trace"
                                  : !choice.network.empty() ? "training"
                                                            : "collective";
            const auto only_of = [&](const char* option, const char* workload, bool given) {
                if (given && choice.workload != workload)
                    throw ConfigError(
                        option, "",
                        fmt::format(
                            "belongs to --workload {}, not {}; expected one of the two", workload,
                            choice.workload));
            };
            only_of("--trace", "trace", !choice.traces.empty());
            only_of("--network", "training", !choice.network.empty());
            if (choice.network.empty())
                choice.network = "resnet50";
            if (arguments->kind == "experiment" && choice.workload == "training")
                choice.plan = fitting_plan(path, choice.network, folder);
            if (!choice.traces.empty())
                ask_traces(choice, load_system(path, {}));
            else
                choice.traces = {(configs / "examples/resnet50_ddp_synthetic.json.gz").string()};
            for (std::string& trace : choice.traces)
                trace = path_to_write(folder, trace).string();
            const std::string text = start_file(arguments->kind, choice);
            if (arguments->out.empty())
                std::fwrite(text.data(), 1, text.size(), stdout);
            else
                write_new(arguments->out, text);
            return 0;
        };
    });
}

}  // namespace switchfold

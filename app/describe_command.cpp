// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/named_system.h"
#include "core/error.h"
#include "sim/config/load.h"
#include "sim/describe_collectives.h"
#include "sim/machine/describe.h"
#include "sim/machine/system_queries.h"
#include "sim/nccl_choices.h"
#include "sim/output/replaced_file.h"
#include "validation/collectives/measurements_near.h"
#include "validation/harness/data.h"
#include "validation/harness/root.h"
#include "validation/known/known_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <thread>
#include <utility>

namespace switchfold {

namespace {

/// What was measured of the system's operations; a sentence if there is no folder to look into.
std::string measurements_of(const SystemParams& system) {
    if (!system.has_gpus())
        return "";
    const std::filesystem::path folder = validation::named_measurements();
    try {
        const std::filesystem::path root = validation::find_root({});
        validation::Machines machines(root);
        const std::string near =
            gpus_of(system) < 2 ? ""
                                : validation::describe_measurements(system, machines, root, folder);
        const validation::KnownSystems known(std::move(machines), root, folder);
        return near + validation::describe_known(system, known);
    } catch (const ConfigError& error) {
        return fmt::format("\nmeasurements are not shown: {}\n", error.what());
    }
}

/// A file, standard input, or a name of configs/systems.
std::string file_of_system(const std::string& system) {
    std::error_code ignored;
    const bool named = system != "-" && system.find_first_of("/.") == std::string::npos &&
                       !std::filesystem::exists(system, ignored);
    return named ? named_system(system).string() : system;
}

}  // namespace

void add_describe(CLI::App& app, Chosen& chosen) {
    struct Arguments {
        std::string file;
        std::vector<std::string> set;
        bool dot = false;
        std::filesystem::path picture;
        bool units = false;
        std::uint32_t node = 7;
        std::vector<std::string> environment;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "describe",
        "Say what a system is, how all-reduces would run on its GPUs, which of its operations were "
        "measured, and how well it is known.\n\nExample:\n"
        "  switchfold describe configs/systems/dgx_h100_ndr.json --set /topology/nodes=16\n"
        "  switchfold describe hgx_h100 --picture machine.svg\n"
        "  switchfold describe --dot configs/systems/dgx2_v100.json | dot -Tsvg > dgx2.svg");
    command
        ->add_option(
            "SYSTEM", arguments->file,
            "System: a file (JSON), or a name of configs/systems; -: standard input")
        ->required();
    command
        ->add_option(
            "--set", arguments->set, "Replace a value: /json/pointer=VALUE; may be repeated")
        ->allow_extra_args(false);
    command
        ->add_option(
            "--env", arguments->environment,
            "NCCL's choices under NAME=VALUE of its environment, as its log would say them; NONE: "
            "under none")
        ->allow_extra_args(false);
    command->add_flag("--dot", arguments->dot, "Print its graph for Graphviz instead");
    command->add_option(
        "--picture", arguments->picture,
        "Draw its nodes and links into a file (SVG) instead; one that is there is replaced");
    command->add_flag(
        "--units", arguments->units,
        "Print the estimated area and energy of its reduction units (JSON) instead");
    command
        ->add_option(
            "--node", arguments->node,
            "Process of that estimate in nm: 16, 14, 10 or 7 (the default)")
        ->check(CLI::IsMember(processes_of_estimates()));
    command->callback([arguments, &chosen] {
        chosen = [arguments] {
            std::vector<Override> overrides;
            for (const std::string& text : arguments->set)
                overrides.push_back(parse_override(text));
            if (!arguments->environment.empty()) {
                std::map<std::string, std::string> variables;
                for (const std::string& text : arguments->environment) {
                    const std::size_t sign = text.find('=');
                    if (text == "NONE")
                        continue;
                    if (sign == std::string::npos)
                        throw ConfigError(
                            "--env", "",
                            fmt::format("is \"{}\"; expected NAME=VALUE, or NONE", text));
                    variables[text.substr(0, sign)] = text.substr(sign + 1);
                }
                const std::string told = nccl_log_of(
                    nccl_setting(named_system(arguments->file), variables, ".", overrides));
                std::fwrite(told.data(), 1, told.size(), stdout);
                return 0;
            }
            const SystemParams system = load_any_system(file_of_system(arguments->file), overrides);
            if (!arguments->picture.empty()) {
                if (arguments->picture.extension() != ".svg")
                    throw ConfigError(
                        arguments->picture.string(), "",
                        "does not end in .svg; expected the name of an SVG file");
                replace_file(arguments->picture, picture_of_system(system, arguments->file));
                return 0;
            }
            if (arguments->units) {
                const std::string text = units_of_system(system, arguments->node).dump(2) + "\n";
                std::fwrite(text.data(), 1, text.size(), stdout);
                return 0;
            }
            const RunJobs jobs = [](std::span<const Job> all, const JobEnded& ended) {
                run_jobs(all, std::max(1U, std::thread::hardware_concurrency()), {}, ended);
            };
            const std::string text = arguments->dot ? draw_system(system)
                                                    : describe_system(system, arguments->node) +
                                                          all_reduce_table(system, jobs) +
                                                          measurements_of(system);
            std::fwrite(text.data(), 1, text.size(), stdout);
            return 0;
        };
    });
}

}  // namespace switchfold

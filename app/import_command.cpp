// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "core/error.h"
#include "sim/config/astra_sim.h"
#include "sim/output/replaced_file.h"
#include "validation/harness/root.h"

#include <cstdio>
#include <filesystem>
#include <string>

namespace switchfold {

void add_import(CLI::App& app, Chosen& chosen) {
    struct Arguments {
        AstraSimInputs inputs;
        std::filesystem::path out;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "import", "Write an experiment from another simulator's inputs.\n\nExample:\n"
                  "  switchfold import astra-sim --system system.json --network network.yml "
                  "--workload one_comm_coll -o mine.json");
    command->require_subcommand(1);
    CLI::App* astra = command->add_subcommand(
        "astra-sim", "From ASTRA-sim's system, its analytical network and a Chakra graph a rank");
    astra->add_option("--system", arguments->inputs.system, "System (JSON)")->required();
    astra
        ->add_option(
            "--network", arguments->inputs.network, "Network of the analytical backends (YAML)")
        ->required();
    astra
        ->add_option(
            "--workload", arguments->inputs.workload,
            "What comes before .0.et, .1.et, ... in the graphs' names")
        ->required();
    astra->add_option("--comm-group", arguments->inputs.groups, "The groups' ranks (JSON)");
    astra->add_option("-o,--out", arguments->out, "File to write; without it: standard output");
    astra->callback([arguments, &chosen] {
        chosen = [arguments] {
            AstraSimInputs inputs = arguments->inputs;
            inputs.configs = validation::find_root({}) / "configs";
            inputs.folder = arguments->out.has_parent_path() ? arguments->out.parent_path()
                                                             : std::filesystem::path(".");
            if (!arguments->out.empty())
                inputs.programs = inputs.folder / arguments->out.stem();
            const AstraSimExperiment made = experiment_of_astra_sim(inputs);
            if (arguments->out.empty()) {
                std::fwrite(made.text.data(), 1, made.text.size(), stdout);
                return 0;
            }
            auto files = made.programs;
            files[arguments->out] = made.text;
            for (const auto& [file, text] : files)
                if (std::filesystem::exists(file))
                    throw ConfigError(
                        file.string(), "", "exists already; expected the name of a new file");
            for (const auto& [file, text] : made.programs)
                replace_file(file, text);
            replace_file(arguments->out, made.text);
            return 0;
        };
    });
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "sim/energy/energy_text.h"
#include "sim/energy/step_work.h"
#include "validation/harness/root.h"

#include <cstdio>
#include <memory>
#include <string>

namespace switchfold {

namespace {

struct EnergyArguments {
    std::string folder;
    std::string power;
    bool json = false;
};

int print_energy(const EnergyArguments& arguments) {
    const RunWork run = read_run_work(arguments.folder);
    RunEnergy energy{run.experiment, arguments.power, {}};
    if (energy.power.empty())
        energy.power = (validation::find_root({}) / "configs/power/default.json").string();
    const PowerParams power = load_power(energy.power);
    for (const StepWork& step : run.steps)
        energy.scenarios.push_back(energy_of(step, power, energy.power));
    const std::string text =
        arguments.json ? energy_json(energy).dump(2) + "\n" : energy_table(energy);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace

void add_energy(CLI::App& app, Chosen& chosen) {
    auto arguments = std::make_shared<EnergyArguments>();
    CLI::App* command = app.add_subcommand(
        "energy",
        "Estimate the energy of a finished run's steps from stated power numbers.\n\nExample:\n"
        "  switchfold energy runs/example");
    command->add_option("DIR", arguments->folder, "Folder of a finished run")->required();
    command->add_option(
        "--power", arguments->power, "Power numbers (JSON); default: configs/power/default.json");
    command->add_flag("--json", arguments->json, "Print JSON");
    command->callback(
        [arguments, &chosen] { chosen = [arguments] { return print_energy(*arguments); }; });
}

}  // namespace switchfold

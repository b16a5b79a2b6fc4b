// SPDX-License-Identifier: Apache-2.0
#include "sim/app/commands.h"
#include "sim/run/describe.h"
#include "sim/run/load.h"

#include <cstdio>

namespace switchfold {

void add_describe(CLI::App& app, Chosen& chosen) {
    auto file = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand(
        "describe",
        "Say what a system is and how all-reduces would run on it.\n\nExample:\n"
        "  switchfold describe configs/systems/hgx_h100.json");
    command->add_option("SYSTEM", *file, "System (JSON)")->required();
    command->callback([file, &chosen] {
        chosen = [file] {
            const std::string text = describe_system(load_system(*file, {}));
            std::fwrite(text.data(), 1, text.size(), stdout);
            return 0;
        };
    });
}

}  // namespace switchfold

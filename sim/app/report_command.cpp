// SPDX-License-Identifier: Apache-2.0
#include "sim/app/commands.h"
#include "sim/output/result_reader.h"
#include "sim/output/writers.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

namespace {

int report(const std::vector<std::string>& folders) {
    // All are read before anything is printed: half a report looks like a whole one.
    std::string text;
    for (const std::string& folder : folders) {
        if (!text.empty())
            text += '\n';
        text += to_table(read_result(folder));
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
    auto folders = std::make_shared<std::vector<std::string>>();
    CLI::App* command = app.add_subcommand(
        "report",
        "Print the tables of finished runs again.\n\nExample:\n"
        "  switchfold report runs/example runs/another");
    command->add_option("DIR", *folders, "Folder of a finished run, as given to --out")->required();
    command->callback([folders, &chosen] { chosen = [folders] { return report(*folders); }; });
}

}  // namespace switchfold

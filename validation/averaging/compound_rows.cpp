// SPDX-License-Identifier: Apache-2.0
#include "validation/averaging/compound_rows.h"

#include "core/error.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::string_view kRow = "thesis_compound";
constexpr std::string_view kOneGpu = "one GPU";
constexpr std::string_view kDivided = "4 GPUs";  // beginning of the names of divisions

}  // namespace

bool is_of_compound(const AveragingRow& row) {
    return row.id == kRow;
}

void compare_compound(
    const std::vector<AveragingRow>& rows, const SuiteOptions& options, SuiteResult& result) {
    if (rows.empty())
        return;
    const auto file = options.root / "configs/experiments/layer_division.json";
    RunOptions run;
    run.in_process = true;
    const ExperimentResult done = run_experiment(load_experiment(file, {}), run);
    double alone = 0;
    double fastest = 0;
    std::string name;
    for (const ScenarioResult& scenario : done.scenarios) {
        const double pace = scenario.samples_per_s.value_or(0);
        if (scenario.name == kOneGpu)
            alone = pace;
        else if (scenario.name.starts_with(kDivided) && pace > fastest) {
            fastest = pace;
            name = scenario.name;
        }
    }
    if (alone == 0 || fastest == 0)
        throw ConfigError(
            file.string(), "/scenarios",
            fmt::format(
                "have no \"{}\" or none that begins with \"{}\"; expected both", kOneGpu,
                kDivided));
    for (const AveragingRow& row : rows) {
        Case c;
        c.id = row.id;
        c.group = "claims beside ours";
        c.quantity = row.quantity;
        c.unit = row.unit;
        c.measured = row.value;
        c.simulated = fastest / alone;
        c.how = fmt::format(
            "\"{}\" of layer_division over one GPU; the sizes of its network are ours", name);
        result.cases.push_back(std::move(c));
    }
    result.notes.push_back(
        "the compound model's speed-up is shown beside ours, not reproduced: its "
        "sizes, batch and GPUs are not published");
}

}  // namespace switchfold::validation

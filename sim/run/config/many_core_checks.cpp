// SPDX-License-Identifier: Apache-2.0
#include "sim/run/config/many_core_checks.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace switchfold {

void check_many_core(const Experiment& experiment, ParamChecker& checker) {
    const std::pair<std::string_view, bool> of_gpus[] = {
        {"/system", experiment.has_system()},
        {"/workload", experiment.workload.has_value()},
        {"/workloads", !experiment.workloads.empty()},
        {"/learning", experiment.learning.has_value()},
        {"/run", experiment.run.has_value()},
        {"/planner", experiment.planner.has_value()},
        {"/ranks", !experiment.ranks.empty()},
        {"/faults", !experiment.faults.empty()},
        {"/functional", experiment.functional}};
    for (const auto& [pointer, given] : of_gpus)
        if (given)
            checker.error(pointer, "is of GPUs, and many_core is given; expected one of the two");
    for (std::size_t i = 0; i < experiment.scenarios.size(); ++i) {
        const ScenarioParams& scenario = experiment.scenarios[i];
        const std::pair<std::string_view, bool> parts[] = {
            {"all_reduce", scenario.all_reduce != CollectivePolicy()},
            {"collectives", scenario.collectives != CollectivePolicies()},
            {"max_ctas", scenario.max_ctas.has_value()},
            {"communication_sms", scenario.communication_sms.has_value()}};
        for (const auto& [name, given] : parts)
            if (given)
                checker.error(
                    fmt::format("/scenarios/{}/{}", i, name),
                    "is of collectives between GPUs, and many_core has none; expected name, "
                    "overlap and set");
    }
}

std::vector<ScenarioParams> many_core_scenarios() {
    return {{"serial", false, {}}, {"hidden", true, {}}};
}

}  // namespace switchfold

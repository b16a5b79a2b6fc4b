// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/gpu_scenarios.h"

#include "interconnect/topology_builder.h"
#include "models/collectives/choice/named_policies.h"

#include <string>
#include <utility>

namespace switchfold {

ScenarioParams by_rings() {
    return {"ring", true, ring_policy()};
}

ScenarioParams in_switches(bool registered) {
    ScenarioParams scenario{"in_switch", true, in_switch_policy()};
    scenario.all_reduce.registered = registered;
    return scenario;
}

std::vector<ScenarioParams>
with_switches_across(const Experiment& experiment, std::vector<ScenarioParams> scenarios) {
    if (build_topology(experiment.system->topology).machines() > 1)
        for (const NamedPolicy& across : policies_across_switches())
            scenarios.push_back({std::string(across.name), true, across.policy});
    return scenarios;
}

std::vector<ScenarioParams> scenarios_of_steps(const Experiment& experiment) {
    return with_switches_across(
        experiment, {{"serial", false, ring_policy()}, by_rings(), in_switches(true)});
}

}  // namespace switchfold

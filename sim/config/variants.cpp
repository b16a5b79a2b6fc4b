// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"
#include "sim/kinds/kinds.h"

#include <algorithm>

namespace switchfold {

namespace {

bool follows_communication(const Experiment& experiment) {
    return experiment.workload && kind_of(*experiment.workload).follows_communication(experiment);
}

/// Whether two scenarios have equal collectives.
bool same_communication(const LoadedExperiment& loaded, std::size_t a, std::size_t b) {
    const ScenarioParams& x = loaded.experiment.scenarios[a];
    const ScenarioParams& y = loaded.experiment.scenarios[b];
    return x.policies() == y.policies() && x.communication_sms == y.communication_sms;
}

}  // namespace

std::vector<Variant> variants_of(const LoadedExperiment& loaded) {
    std::vector<Variant> variants;
    for (std::size_t i = 0; i < loaded.experiment.scenarios.size(); ++i) {
        const Experiment* experiment = &loaded.of(i);
        const auto same = std::find_if(variants.begin(), variants.end(), [&](const Variant& v) {
            return v.experiment == experiment &&
                   (!follows_communication(*experiment) ||
                    same_communication(loaded, v.scenarios.front(), i));
        });
        if (same != variants.end())
            same->scenarios.push_back(i);
        else
            variants.push_back({experiment, {i}});
    }
    return variants;
}

}  // namespace switchfold

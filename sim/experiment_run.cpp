// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment_run.h"

#include "sim/config/scenario_set.h"

namespace switchfold {

Problem ExperimentRun::problem_of(
    std::size_t scenario, const std::string& pointer, const std::string& message) const {
    const std::string file = loaded_.file.string();
    const Problem problem{file, pointer, message};
    const bool own = &loaded_.of(scenario) != &loaded_.experiment;
    return own ? blamed_on_set(problem, file, scenarios()[scenario].set, scenario) : problem;
}

}  // namespace switchfold

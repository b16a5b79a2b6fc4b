// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/results/causes.h"
#include "sim/results/run_files.h"

#include <map>
#include <string>
#include <vector>

namespace switchfold {

/// A scenario, and its runs that tell its causes: outcomes of its first `steps` steps, by what was
/// on. Those of `kAllMechanisms` may be of more steps.
struct ScenarioCauses {
    RanScenario scenario;
    MechanismSet there = 0;
    std::map<MechanismSet, const Outcome*> with;
    std::uint32_t steps = 0;
};

/// Rows of causes.csv: the causes of each slowed kernel of the first steps, of every rank.
[[nodiscard]] std::string kernel_cause_lines(const ScenarioCauses& causes);
[[nodiscard]] std::string kernel_cause_header();

/// Stages causes.csv if any kernel is slowed.
void write_kernel_causes(ResultFolder& folder, const std::vector<ScenarioCauses>& scenarios);

}  // namespace switchfold

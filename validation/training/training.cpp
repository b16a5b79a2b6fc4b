// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/data.h"
#include "validation/harness/suite.h"
#include "validation/training/schedule_rows.h"
#include "validation/training/steps.h"

namespace switchfold::validation {

SuiteResult run_training(const SuiteOptions& options) {
    const Suite& suite = suite_named("training");
    const auto schedules = find_data(options, "reference/training/schedules.csv");
    const auto steps = find_data(options, "reference/training/training_steps.csv");
    if (!schedules && !steps)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    if (schedules)
        compare_schedules(*schedules, result);
    if (steps)
        compare_steps(*steps, options, result);
    return result;
}

}  // namespace switchfold::validation

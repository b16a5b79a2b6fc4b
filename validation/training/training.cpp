// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/data.h"
#include "validation/harness/suite.h"
#include "validation/training/schedule_rows.h"

namespace switchfold::validation {

SuiteResult run_training(const SuiteOptions& options) {
    const Suite& suite = suite_named("training");
    const auto schedules = find_data(options, "reference/training/schedules.csv");
    if (!schedules)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    compare_schedules(*schedules, result);
    return result;
}

}  // namespace switchfold::validation

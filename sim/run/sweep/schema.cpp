// SPDX-License-Identifier: Apache-2.0
#include "sim/core/params_docs.h"
#include "sim/core/params_schema.h"
#include "sim/run/sweep/plan.h"

namespace switchfold {

std::string sweep_schema_text() {
    return schema_of<SweepParams>("switchfold sweep").dump(2) + "\n";
}

std::string sweep_parameter_table() {
    return docs_of<SweepParams>();
}

}  // namespace switchfold

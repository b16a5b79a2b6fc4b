// SPDX-License-Identifier: Apache-2.0
#include "core/params_schema.h"
#include "core/schema_table.h"
#include "sim/sweep/plan.h"

namespace switchfold {

namespace {

OrderedJson sweep_schema() {
    return schema_of<SweepParams>("switchfold sweep");
}

}  // namespace

std::string sweep_schema_text() {
    return sweep_schema().dump(2) + "\n";
}

std::string sweep_parameter_table() {
    return schema_table(sweep_schema(), "sweep");
}

}  // namespace switchfold

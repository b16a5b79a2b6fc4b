// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/workload_kind.h"

#include "sim/output/result_tables.h"

namespace switchfold {

std::string WorkloadKind::tables(const ExperimentResult& result) const {
    return step_tables(result);
}

}  // namespace switchfold

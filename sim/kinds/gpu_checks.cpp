// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/gpu_checks.h"

#include "sim/kinds/shared_machine/sharing_checks.h"

#include <fmt/format.h>

namespace switchfold {

void check_on_gpus(const Experiment& experiment, ParamChecker& checker) {
    if (experiment.workload.has_value() == !experiment.workloads.empty())
        checker.error(
            "", experiment.workload ? "has workload and workloads; expected one of the two"
                                    : "has no workload; expected workload, or workloads");
    if (!experiment.workloads.empty())
        check_sharing(experiment, checker);
    const bool fast = experiment.may_leave_out() == Fidelity::kFast || experiment.approximate;
    if (fast && (experiment.exact || experiment.functional))
        checker.error(
            experiment.approximate ? "/approximate" : "/fidelity",
            fmt::format(
                "cannot be combined with {}, which needs every rank; expected one of them",
                experiment.exact ? "exact" : "functional"));
    if (experiment.fidelity != Fidelity::kAuto && (experiment.exact || experiment.approximate))
        checker.error(
            experiment.exact ? "/exact" : "/approximate",
            "is given, and fidelity beside it; expected fidelity");
    if (!experiment.ranks.empty())
        check_slow_ranks(
            experiment.ranks, build_topology(experiment.system->topology).gpus(), checker);
    check_components(*experiment.system, experiment.faults, checker);
}

}  // namespace switchfold

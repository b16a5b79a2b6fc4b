// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/deepep_normal.h"
#include "models/collectives/running_collective.h"

namespace switchfold {

std::unique_ptr<RunningCollective> make_experts_collective(
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener) {
    return spec.kind == CollectiveKind::kMoeDispatch
               ? make_deepep_dispatch(environment, spec, listener)
               : make_deepep_combine(environment, spec, listener);
}

}  // namespace switchfold

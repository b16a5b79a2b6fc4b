// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/deepep_normal.h"
#include "models/collectives/experts/low_latency.h"
#include "models/collectives/experts/switch_experts.h"
#include "models/collectives/experts/two_sided.h"
#include "models/collectives/running_collective.h"

namespace switchfold {

std::unique_ptr<RunningCollective> make_experts_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& /*refused*/) {
    const ExpertsLibrary library = spec.choice.of<ExpertsConfig>().library;
    const bool dispatch = spec.kind == CollectiveKind::kMoeDispatch;
    if (library == ExpertsLibrary::kDeepepLowLatency)
        return dispatch ? make_low_latency_dispatch(environment, spec, listener)
                        : make_low_latency_combine(environment, spec, listener);
    if (library == ExpertsLibrary::kTrtllmTwoSided)
        return make_two_sided(environment, spec, listener);
    if (library == ExpertsLibrary::kInSwitch)
        return dispatch ? make_switch_dispatch(environment, spec, listener)
                        : make_switch_combine(environment, spec, listener);
    return dispatch ? make_deepep_dispatch(environment, spec, listener)
                    : make_deepep_combine(environment, spec, listener);
}

}  // namespace switchfold

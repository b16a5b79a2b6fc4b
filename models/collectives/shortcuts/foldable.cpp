// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/foldable.h"

#include "models/collectives/in_switch/switch_mode.h"

namespace switchfold {

Pattern pattern_of(CollectiveKind kind, Datatype datatype, const CollectiveConfig& choice) {
    const bool reduces = kind == CollectiveKind::kAllReduce;
    if (!choice.is<NcclConfig>())
        return Pattern::kNone;
    if (channels_for_a_peer(choice) != 0 && kind == CollectiveKind::kAllToAll)
        return Pattern::kExchanges;
    if (channels_for_a_peer(choice) != 0 && kind == CollectiveKind::kSendReceive)
        return Pattern::kShifts;
    switch (choice.algorithm) {
    case Algorithm::kRing:
        return reduces || kind == CollectiveKind::kReduceScatter ||
                       kind == CollectiveKind::kAllGather
                   ? Pattern::kRings
                   : Pattern::kNone;
    case Algorithm::kTree:
        return reduces ? Pattern::kTrees : Pattern::kNone;
    case Algorithm::kInSwitch:
        return kind == CollectiveKind::kAllGather || reducible_in_switch(datatype)
                   ? Pattern::kSwitches
                   : Pattern::kNone;
    case Algorithm::kInSwitchTree:
        return reduces && reducible_in_switch(datatype) ? Pattern::kSwitchTrees : Pattern::kNone;
    default:
        return Pattern::kNone;
    }
}

bool may_fold(CollectiveKind kind, const CollectivePolicy& policy) {
    const bool reduces = kind == CollectiveKind::kAllReduce;
    return policy.kernels == Kernels::kClassic && mode_of(policy).folds() &&
           !policy.quantised.used() &&
           (reduces || policy.algorithm == Algorithm::kRing ||
            policy.algorithm == Algorithm::kInSwitch || policy.algorithm == Algorithm::kAuto);
}

}  // namespace switchfold

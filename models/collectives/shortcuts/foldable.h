// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <cstdint>

namespace switchfold {

/// What a choice has all ranks do, as far as ranks that do the same can stand for each other.
enum class Pattern : std::uint8_t {
    kNone,  ///< nothing that folds
    kRings,
    kTrees,        ///< all-reduces along trees between machines
    kSwitches,     ///< through the switches of one domain
    kSwitchTrees,  ///< all-reduces through the switches of each machine, trees between them
    kExchanges,    ///< all-to-alls of equal parts
    kShifts,       ///< every rank sends to the next one
};
/// An all-reduce, or one of its halves: each member needs data of all, by a ring step after step.
[[nodiscard]] constexpr bool is_all_reduce_or_half(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
           kind == CollectiveKind::kAllGather;
}

[[nodiscard]] Pattern
pattern_of(CollectiveKind kind, Datatype datatype, const CollectiveConfig& choice);

/// Whether what a policy makes of the kind may have a pattern: by NCCL's rings, trees, or switches
/// that are read. Kinds other than all-reduces follow the policy of these as far as they can.
[[nodiscard]] bool may_fold(CollectiveKind kind, const CollectivePolicy& policy);

}  // namespace switchfold

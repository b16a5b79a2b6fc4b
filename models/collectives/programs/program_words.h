// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/programs/program.h"

#include <array>

namespace switchfold::programs {

/// What our own form knows, in the order in which messages and its schema name them.
inline constexpr std::array kOps{
    Op::kNothing,
    Op::kSend,
    Op::kReceive,
    Op::kReceiveCopySend,
    Op::kReceiveReduceSend,
    Op::kReceiveReduceCopy,
    Op::kReceiveReduceCopySend,
    Op::kCopy,
    Op::kReduce,
    Op::kMultimemReduce,
    Op::kMulticastStore,
    Op::kMultimemReduceAll,
    Op::kBarrier};

inline constexpr std::array kProgramKinds{
    CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
    CollectiveKind::kBroadcast, CollectiveKind::kAllToAll};

}  // namespace switchfold::programs

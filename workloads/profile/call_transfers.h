// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/event.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A send or receive of NCCL, of which one call or group may make several at a time.
struct CallTransfer {
    bool sends = false;
    std::uint64_t peer = 0;  ///< rank in the communicator
    std::uint64_t bytes = 0;
};

/// Makes the event an all-to-all with these parts, if they go to everybody in a communicator of
/// `ranks` ranks. \returns false, and leaves the event as it is, if they do not: then they are
/// messages. \pre all peers are below `ranks`
[[nodiscard]] bool describe_exchange(
    const std::vector<CallTransfer>& transfers, std::uint64_t ranks, TraceEvent& event);

/// Makes the event a message to or from this global rank, as c10d states one.
void describe_message(const CallTransfer& transfer, std::uint64_t peer, TraceEvent& event);

/// Makes the event the call that launches the messages which stand before it.
void describe_batch(TraceEvent& event);

}  // namespace switchfold

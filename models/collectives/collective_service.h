// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// Notified when one rank's part in a collective has ended.
class CollectiveListener {
public:
    virtual void on_collective_end(std::uint32_t operation) = 0;

protected:
    ~CollectiveListener() = default;
};

/// One end of a transfer between two ranks.
struct TransferEnd {
    std::uint32_t sender = 0;    ///< global rank
    std::uint32_t receiver = 0;  ///< global rank
    Bytes bytes;
    std::uint64_t tag = 0;
};

/// Runs collectives for the ranks that replay a graph. A rank calls when its stream reaches the
/// operation.
class CollectiveService {
public:
    virtual void start(
        std::uint32_t rank, std::uint32_t operation, const CollectiveOperation& collective,
        std::int32_t priority, CollectiveListener& listener) = 0;
    /// The stream of `rank`, the sender or the receiver, has reached its end of a transfer.
    virtual void start_transfer(
        std::uint32_t rank, std::uint32_t operation, const TransferEnd& end, std::int32_t priority,
        CollectiveListener& listener) = 0;

protected:
    ~CollectiveService() = default;
};

}  // namespace switchfold

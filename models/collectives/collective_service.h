// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// Told when one rank's part in a collective has ended.
class CollectiveListener {
public:
    virtual void on_collective_end(std::uint32_t operation) = 0;

protected:
    ~CollectiveListener() = default;
};

/// Runs collectives for the ranks that replay a graph. A rank calls when its stream has come to the
/// operation.
class CollectiveService {
public:
    virtual void start(
        std::uint32_t rank,
        std::uint32_t operation,
        const CollectiveOperation& collective,
        std::int32_t priority,
        CollectiveListener& listener) = 0;

protected:
    ~CollectiveService() = default;
};

}  // namespace switchfold

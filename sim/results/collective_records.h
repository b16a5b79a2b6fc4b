// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/engine.h"
#include "sim/machine/outcome.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/profile/intervals.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>

namespace switchfold {

/// Finds the record of an operation that communicates.
class CollectiveRecords {
public:
    explicit CollectiveRecords(const Outcome& outcome);
    /// Null if it does not communicate, or has no record. Each rank asks for all its operations, in
    /// order: transfers of one tag are counted.
    const CollectiveRecord* of(std::uint32_t rank, const OperationBody& body);

private:
    using Channel = std::array<std::uint64_t, 4>;

    /// The next of those from a rank to another of a tag, at one end.
    const CollectiveRecord* transfer(const Channel& end);

    std::map<std::pair<std::uint32_t, std::uint64_t>, const CollectiveRecord*> of_groups_;
    std::map<Channel, const CollectiveRecord*> transfers_;  ///< sender, receiver, tag, sequence
    std::map<Channel, std::uint64_t> counts_;
};

/// Time in which an operation of a collective or transfer waits for another rank. A late rank
/// delays a single peer of a group's send and receive; a sender that fills the receiver's buffers
/// and ends does not wait.
[[nodiscard]] Interval waiting_of(const CollectiveRecord& record, const Interval& resident);

/// The algorithm as results name it.
[[nodiscard]] std::string algorithm_of(const CollectiveRecord& record);

}  // namespace switchfold

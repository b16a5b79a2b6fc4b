// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// An operation that a file lists by itself, without the kernels around it.
struct ListedOperation {
    static constexpr std::uint64_t kNoTime = UINT64_MAX;

    std::uint32_t name = 0;          ///< index into ListedRun::names
    std::uint32_t communicator = 0;  ///< index into ListedRun::communicators
    /// Of a collective: among those of its name on its communicator, the same on all ranks.
    std::uint64_t number = 0;
    std::uint64_t start_ns = kNoTime;  ///< on the clock of the rank's file
    Time duration;                     ///< zero if it is not known
    /// A collective without group and sequence, or a send or receive. Its exchange, if any, is one
    /// of ListedRank::exchanges.
    OperationBody body;
};

struct ListedRank {
    TraceFileReport report;                   ///< file, format, rank, world_size, and what was read
    std::vector<ListedOperation> operations;  ///< in the order of the file
    std::vector<UnevenExchange> exchanges;
};

/// What the files of one run list.
struct ListedRun {
    /// Whether the starts are those of the calls: then operations of different communicators wait
    /// for each other in no known way. Otherwise they are those of the kernels.
    bool starts_of_calls = false;
    std::vector<std::string> names;
    std::vector<Group> communicators;
    std::vector<ListedRank> ranks;
};

/// A workload a rank, on one stream a communicator and one a direction and peer of sends and
/// receives. Operations of several ranks are matched by name and number, sends and receives from
/// the last one backwards: recorders that keep the latest lose the first ones, and not the same
/// everywhere. What has no counterpart in the file of a rank that should have it is dropped.
///
/// With times, an operation waits for its predecessor on the stream and, if starts are those of
/// kernels, for whatever ended last before it began; the rest of the time until its start is a gap.
/// Without times, the operations of each stream follow each other at once.
///
/// Throws ConfigError if nothing is left of a rank, or it lasts for more than 53 days.
[[nodiscard]] std::vector<TraceWorkload> workloads_of(ListedRun run);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"
#include "validation/collectives/collective_tables.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold::validation {

/// One collective to be simulated; rows that mean the same one share it.
struct PlannedRun {
    std::string label;
    SystemParams system;
    std::uint32_t ranks = 0;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Algorithm algorithm = Algorithm::kAuto;
    Bytes bytes;
    Datatype datatype = Datatype::kFloat32;
};

/// A row that can be compared.
struct PlannedRow {
    std::string id;  ///< TABLE/SIZE_BYTES/PLACEMENT, with the algorithm if that alone is not unique
    const MeasuredRow* row = nullptr;
    std::size_t run = 0;
    Time
        launches;  ///< of one iteration by the busiest process of the benchmark: the least it takes
    bool in_switch = false;  ///< the label says so
    /// Of two tables that were measured alike, one with the switches' reduction and one without,
    /// what they have in common; empty: the row is of no such pair.
    std::string pair;
    bool pair_reduces = false;  ///< which of the two
};

struct CollectivePlan {
    std::vector<PlannedRun> runs;
    std::vector<PlannedRow> rows;
    std::vector<Unmatched> unmatched;
    std::vector<std::string> notes;
};

/// Rows give no size where a source names a peak; they are taken at this one, where bandwidth no
/// longer rises.
inline constexpr std::uint64_t kPeakBytes = 8ULL << 30U;

/// Finds each row's machine and what to simulate for it. Rows stay where they are: the plan points
/// at them. `system`, if it is not empty, is the machine of all of them; throws ConfigError if it
/// has too few GPUs.
[[nodiscard]] CollectivePlan plan_collectives(
    const std::vector<MeasuredRow>& rows,
    const Machines& machines,
    const std::filesystem::path& system = {});

}  // namespace switchfold::validation

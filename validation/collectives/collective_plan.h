// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/intervals/likeness.h"
#include "validation/collectives/collective_tables.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold::validation {

/// One collective to be simulated, shared by all rows that describe it.
struct PlannedRun {
    std::string label;
    SystemParams system;
    std::uint32_t ranks = 0;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Algorithm algorithm = Algorithm::kAuto;
    std::uint32_t channels = 0;  ///< as in CollectivePolicy
    Bytes bytes;
    Datatype datatype = Datatype::kFloat32;
};

/// What is like its time. `algorithm`: as in results, empty if that is not known.
[[nodiscard]] intervals::Likeness
likeness_of(const PlannedRun& run, const std::string& algorithm = {});

/// A comparable row.
struct PlannedRow {
    std::string id;  ///< TABLE/SIZE_BYTES/PLACEMENT, with the algorithm if needed for uniqueness
    const MeasuredRow* row = nullptr;
    std::size_t run = 0;
    Time launches;           ///< per iteration, of the benchmark's busiest process: a lower bound
    bool in_switch = false;  ///< according to the label
    /// Common part of the names of two tables measured alike, one with in-switch reduction and one
    /// without; empty if there is no such pair.
    std::string pair;
    bool pair_reduces = false;  ///< whether this row is the one with in-switch reduction
};

struct CollectivePlan {
    std::vector<PlannedRun> runs;
    std::vector<PlannedRow> rows;
    std::vector<Unmatched> unmatched;
    std::vector<std::string> notes;
};

/// Size assumed for rows without one, where a source states a peak: bandwidth no longer rises
/// there.
inline constexpr std::uint64_t kPeakBytes = 8ULL << 30U;

/// Finds each row's machine and what to simulate for it. `rows` must outlive the plan, which points
/// into it. `system`, unless empty, is the machine of all rows; throws ConfigError if it has too
/// few GPUs.
[[nodiscard]] CollectivePlan plan_collectives(
    const std::vector<MeasuredRow>& rows, const Machines& machines,
    const std::filesystem::path& system = {});

}  // namespace switchfold::validation

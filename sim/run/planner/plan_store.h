// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/planner/candidate.h"
#include "sim/run/pool/pool.h"
#include "sim/run/sweep/database.h"
#include "sim/run/sweep/folder_lock.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace switchfold {

/// In a second: what a search keeps, it keeps in microseconds.
inline constexpr double kMicroseconds = 1e6;

/// Times of simulated candidates, kept in a folder as those of a sweep whose points are the plans,
/// each with contention and without: a search in the same folder goes on. Without a folder nothing
/// is kept.
class PlanStore {
public:
    /// Throws ConfigError if the folder is in use or holds something else, IoError.
    PlanStore(
        const LoadedExperiment& loaded,
        const CandidateSpace& space,
        const std::optional<std::filesystem::path>& folder);

    /// Seconds of a step, if they are there.
    [[nodiscard]] std::optional<double> known(std::size_t candidate, bool contention) const;
    void keep(std::size_t candidate, bool contention, double seconds);
    void fail(std::size_t candidate, bool contention, const JobResult& result);
    void tick();
    void flush();

private:
    [[nodiscard]] RunRecord record(std::size_t candidate, bool contention) const;

    const LoadedExperiment& loaded_;
    const CandidateSpace& space_;
    SweepPlan plan_;  ///< point 2 i: candidate i without contention, 2 i + 1 with it
    std::unique_ptr<FolderLock> lock_;
    std::unique_ptr<SweepDatabase> database_;
    std::map<std::string, double> known_;  ///< by digest
};

}  // namespace switchfold

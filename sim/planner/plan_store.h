// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/planner/candidate.h"
#include "sim/pool/pool.h"
#include "sim/sweep/database.h"
#include "sim/sweep/folder_lock.h"
#include "sim/sweep/slurm.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// Per second; times are stored in microseconds.
inline constexpr double kMicroseconds = 1e6;

/// Simulated times of candidates, stored in a folder like a sweep whose points are the plans, each
/// with and without contention: a later search in the same folder resumes. Without a folder nothing
/// is stored.
class PlanStore {
public:
    /// Throws ConfigError if the folder is in use or belongs to something else; IoError.
    PlanStore(
        const LoadedExperiment& loaded, const CandidateSpace& space,
        const std::optional<std::filesystem::path>& folder);

    /// Seconds of a step, if stored.
    [[nodiscard]] std::optional<double> known(std::size_t candidate, bool contention) const;
    /// With the interval of a step with contention, `error` times it.
    void keep(
        std::size_t candidate, bool contention, double seconds,
        const std::optional<FigureInterval>& error);
    void fail(std::size_t candidate, bool contention, const JobResult& result);
    void tick();
    void flush();

    /// Identifies a simulation of a candidate.
    [[nodiscard]] const std::string& digest(std::size_t candidate, bool contention) const {
        return plan_.points[2 * candidate + (contention ? 1 : 0)].digest;
    }
    /// Discards failed simulations of earlier searches.
    void forget_failed();
    /// Simulates candidates by cluster jobs, which own the folder meanwhile. Candidates without a
    /// result afterwards have failed. \returns the first error.
    [[nodiscard]] std::string run_by_slurm(
        const std::vector<std::size_t>& candidates, bool contention, const SlurmOptions& slurm,
        const SweepOptions& options);

private:
    [[nodiscard]] RunRecord record(std::size_t candidate, bool contention) const;

    void open();

    const LoadedExperiment& loaded_;
    const CandidateSpace& space_;
    std::optional<std::filesystem::path> folder_;
    SweepPlan plan_;  ///< points: 2 i is candidate i without contention, 2 i + 1 with it
    std::unique_ptr<FolderLock> lock_;
    std::unique_ptr<SweepDatabase> database_;
    std::map<std::string, double> known_;  ///< by digest
};

}  // namespace switchfold

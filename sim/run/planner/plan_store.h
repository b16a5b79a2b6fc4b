// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/planner/candidate.h"
#include "sim/run/pool/pool.h"
#include "sim/run/sweep/database.h"
#include "sim/run/sweep/folder_lock.h"
#include "sim/run/sweep/slurm.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

    /// Names a simulation of a candidate.
    [[nodiscard]] const std::string& digest(std::size_t candidate, bool contention) const {
        return plan_.points[2 * candidate + (contention ? 1 : 0)].digest;
    }
    /// Failed simulations of earlier searches: as if they had never run.
    void forget_failed();
    /// Simulates candidates by jobs of a cluster, which have the folder meanwhile. Those that are
    /// not known afterwards have failed. \returns the first error.
    [[nodiscard]] std::string run_by_slurm(
        const std::vector<std::size_t>& candidates,
        bool contention,
        const SlurmOptions& slurm,
        const SweepOptions& options);

private:
    [[nodiscard]] RunRecord record(std::size_t candidate, bool contention) const;

    void open();

    const LoadedExperiment& loaded_;
    const CandidateSpace& space_;
    std::optional<std::filesystem::path> folder_;
    SweepPlan plan_;  ///< point 2 i: candidate i without contention, 2 i + 1 with it
    std::unique_ptr<FolderLock> lock_;
    std::unique_ptr<SweepDatabase> database_;
    std::map<std::string, double> known_;  ///< by digest
};

}  // namespace switchfold

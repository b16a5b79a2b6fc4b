// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/quantisation.h"
#include "sim/config/experiment.h"
#include "sim/config/learning_params.h"
#include "sim/machine/watchdog.h"
#include "sim/output/result.h"
#include "sim/pool/pool.h"
#include "sim/results/learning_times.h"
#include "training/learning/train/run.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// A completed scenario with what is to be trained along its times.
struct LearningScenario {
    std::string name;
    const LearningParams* learning = nullptr;
    const LimitParams* limits = nullptr;
    const TrainingStep* plan = nullptr;
    const ExecutionGraph* graph = nullptr;
    const Outcome* outcome = nullptr;
    /// How the machine's all-reduces of gradients narrow their numbers; of no effect on replicas
    /// that average or change their number, which is told.
    Quantisation quantised = {};
    const SystemParams* system = nullptr;
};

/// Trains along each scenario's times, one job per seed. Paths are relative to `folder`. Throws
/// what reading of samples throws, and SimulationError if one takes longer than its limit.
[[nodiscard]] std::vector<LearningResult> learn_along(
    const std::vector<LearningScenario>& scenarios, const std::filesystem::path& folder,
    const RunJobs& run);

/// A training with the pace that it followed.
struct TrainedRun {
    learning::TrainingRun run;
    double step_us = 0;  ///< not for replicas that average
    std::vector<std::string> notes;

    static constexpr auto fields() {
        using T = TrainedRun;
        return list_of(
            member("run", &T::run), member("step_us", &T::step_us), member("notes", &T::notes));
    }
};
[[nodiscard]] std::string encode(const TrainedRun& trained);
/// Throws InternalError if the bytes are not a complete run.
[[nodiscard]] TrainedRun decode_trained(std::string_view bytes);

}  // namespace switchfold

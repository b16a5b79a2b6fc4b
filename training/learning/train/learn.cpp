// SPDX-License-Identifier: Apache-2.0
#include "training/learning/train/learn.h"

#include "training/learning/train/trainer.h"

namespace switchfold::learning {

TrainingRun learn(
    const Task& task, WeightPolicy policy, const WeightTimeline& timeline, std::uint64_t seed,
    const std::filesystem::path& folder, const Watch& watch) {
    const auto samples = make_samples(task, seed, folder);
    return train(task, policy, timeline, *samples, seed, watch);
}

}  // namespace switchfold::learning

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/data/samples.h"
#include "workloads/learning/network/network.h"
#include "workloads/learning/optimizer/optimizer.h"
#include "workloads/plan/step/parallel_plan.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace switchfold::learning {

/// How far ahead predictions look.
enum class Ahead : std::uint8_t {
    kFormula,   ///< as the methods' papers count it, for equal stages
    kTimeline,  ///< as the timeline shows it
};

/// What is trained, whatever the schedule.
struct Task {
    NetworkShape network;
    DataSpec data;
    OptimizerSpec optimizer;
    std::uint32_t batch = 16;   ///< samples of a step, shared out to its micro-batches
    std::uint32_t steps = 400;  ///< of `batch` samples each
    std::uint32_t evaluate_every = 10;
    Ahead ahead = Ahead::kFormula;
    double pipemare_decay = 0.5;       ///< D of PipeMare's average of updates
    std::uint32_t pipemare_steps = 0;  ///< with rescaled rates; 0: a quarter of the steps
};

/// Throws ConfigError and IoError for files. `folder`: paths are relative to it.
[[nodiscard]] std::unique_ptr<Samples>
make_samples(const Task& task, std::uint64_t seed, const std::filesystem::path& folder);

/// What is wrong with the task by itself, with pointers into it: {"/network/depth", "..."}.
struct TaskProblem {
    std::string pointer;
    std::string message;
};
[[nodiscard]] std::vector<TaskProblem>
problems_of(const Task& task, std::uint32_t stages, std::uint32_t micro_batches_a_step);

}  // namespace switchfold::learning

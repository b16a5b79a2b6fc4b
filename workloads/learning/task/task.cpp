// SPDX-License-Identifier: Apache-2.0
#include "workloads/learning/task/task.h"

#include <fmt/format.h>

namespace switchfold::learning {

std::vector<TaskProblem>
problems_of(const Task& task, std::uint32_t stages, std::uint32_t micro_batches_a_step) {
    std::vector<TaskProblem> problems;
    const NetworkShape& network = task.network;
    if (network.depth < stages)
        problems.push_back(
            {"/network/depth",
             fmt::format(
                 "is {}, and the plan has {} stages; expected a piece for each",
                 network.depth,
                 stages)});
    if (task.batch < micro_batches_a_step)
        problems.push_back(
            {"/batch",
             fmt::format(
                 "is {} samples, and a step has {} micro-batches; expected a sample for each",
                 task.batch,
                 micro_batches_a_step)});
    if ((network.kind == NetworkKind::kQuadratic) != (task.data.kind == DataKind::kNoise))
        problems.push_back(
            {"/data/type",
             network.kind == NetworkKind::kQuadratic
                 ? "is not noise; a quadratic network is trained on noise alone"
                 : "is noise, which a quadratic network alone is trained on"});
    if (network.kind == NetworkKind::kTransformer) {
        if (network.depth < 2)
            problems.push_back(
                {"/network/depth", "is 1; a transformer needs an input and an output piece"});
        if (network.heads == 0 || network.width % network.heads != 0)
            problems.push_back(
                {"/network/heads",
                 fmt::format(
                     "is {}, which does not divide the width {}", network.heads, network.width)});
        if (task.data.kind == DataKind::kTeacher &&
            (network.tokens == 0 || task.data.features % network.tokens != 0))
            problems.push_back(
                {"/network/tokens",
                 fmt::format(
                     "is {}, which does not divide the {} features",
                     network.tokens,
                     task.data.features)});
    }
    return problems;
}

}  // namespace switchfold::learning

// SPDX-License-Identifier: Apache-2.0
#include "training/learning/task/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold::learning {

std::vector<TaskProblem> problems_of_members(const Task& task, std::uint32_t replicas) {
    std::vector<TaskProblem> problems;
    if (!task.shares.empty() && !task.members.empty())
        problems.push_back(
            {"/shares",
             "are of members that stay; expected none, members that change share evenly"});
    std::uint64_t there = replicas;
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < task.members.size(); ++i) {
        const MemberChange& change = task.members[i];
        const auto problem = [&](const char* key, std::string what) {
            problems.push_back({fmt::format("/members/{}/{}", i, key), std::move(what)});
        };
        if (change.at < last)
            problem("at", fmt::format("is {}, before that of the one above, {}", change.at, last));
        last = std::max(last, change.at);
        if (change.at >= task.steps)
            problem(
                "at",
                fmt::format(
                    "is {}; expected one before the last of {} steps", change.at, task.steps));
        if (change.remove >= there) {
            problem(
                "remove",
                fmt::format("is {} of {}; expected that at least one stays", change.remove, there));
            return problems;
        }
        there = there + change.add - change.remove;
        if (there > task.batch)
            problem(
                "add", fmt::format(
                           "makes {}, and a batch has {} samples; expected one for each", there,
                           task.batch));
    }
    return problems;
}

std::vector<TaskProblem>
problems_of(const Task& task, std::uint32_t stages, std::uint32_t micro_batches_a_step) {
    std::vector<TaskProblem> problems;
    const NetworkShape& network = task.network;
    if (network.depth < stages)
        problems.push_back(
            {"/network/depth", fmt::format(
                                   "is {}, and the plan has {} stages; expected a piece for each",
                                   network.depth, stages)});
    if (task.batch < micro_batches_a_step)
        problems.push_back(
            {"/batch",
             fmt::format(
                 "is {} samples, and a step has {} micro-batches; expected a sample for each",
                 task.batch, micro_batches_a_step)});
    if ((network.kind == NetworkKind::kQuadratic) != (task.data.kind == DataKind::kNoise))
        problems.push_back(
            {"/data/type", network.kind == NetworkKind::kQuadratic
                               ? "is not noise; a quadratic network is trained only on noise"
                               : "is noise, on which only a quadratic network is trained"});
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
                {"/network/tokens", fmt::format(
                                        "is {}, which does not divide the {} features",
                                        network.tokens, task.data.features)});
    }
    return problems;
}

}  // namespace switchfold::learning

// SPDX-License-Identifier: Apache-2.0
#include "app/fitting_plan.h"

#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/machine/system_queries.h"
#include "sim/workload/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace switchfold {

namespace {

/// The GPUs of one machine, which is what a first experiment is of.
constexpr std::uint32_t kMostGpus = 8;

std::vector<std::string> common_plans(std::uint32_t gpus) {
    std::vector<std::string> plans;
    const auto add = [&](std::uint32_t most, const char* more) {
        for (std::uint32_t samples = most; samples > 0; samples /= 2)
            plans.push_back(
                fmt::format(R"({{"data": {}, "micro_batch": {}{}}})", gpus, samples, more));
    };
    add(32, "");
    // Folded: every rank of a large network takes minutes, and one that stands for all seconds.
    if (gpus > 1) {
        add(4, R"(, "sharding": "parameters", "fold": true)");
        add(4, R"(, "sharding": "parameters", "recompute": "full", "fold": true)");
        plans.push_back(fmt::format(
            R"({{"tensor": {}, "sequence": true, "micro_batch": 1, "recompute": "full", "fold": true}})",
            gpus));
    } else {
        add(4, R"(, "recompute": "full")");
    }
    return plans;
}

bool is_of_plan(const Problem& problem) {
    return problem.pointer.starts_with("/workload/plan");
}

}  // namespace

FittingPlan fitting_plan(
    const std::filesystem::path& system, const std::string& network,
    const std::filesystem::path& folder) {
    const std::uint32_t gpus = std::min(gpus_of(load_system(system, {})), kMostGpus);
    FittingPlan found;
    for (const std::string& plan : common_plans(gpus)) {
        const Json experiment{
            {"name", "trial"},
            {"system", std::filesystem::absolute(system).string()},
            {"workload",
             {{"type", "training"},
              {"network", network},
              {"plan", parse_json(plan, "trial.json")}}}};
        try {
            static_cast<void>(prepare_workload(
                load_experiment(experiment, std::filesystem::absolute(folder / "trial.json"), {})));
            return {plan, ""};
        } catch (const ConfigError& error) {
            if (!std::ranges::all_of(error.problems(), is_of_plan))
                throw;
            // Tensor parallelism is beyond some networks; what the last data-parallel plan lacks
            // says more.
            if (found.plan.empty() || plan.find("tensor") == std::string::npos)
                found = {plan, error.problems().front().message};
        }
    }
    return found;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/config/experiment.h"

#include <fmt/format.h>

#include <filesystem>

namespace switchfold {

std::vector<NamedFile> files_of(const Workload& workload) {
    std::vector<NamedFile> files;
    if (const auto* trace = std::get_if<TraceWorkloadParams>(&workload))
        for (std::size_t i = 0; i < trace->files.size(); ++i)
            files.push_back({fmt::format("/files/{}", i), trace->files[i], "a trace"});
    if (const auto* experts = std::get_if<ExpertsWorkloadParams>(&workload);
        experts != nullptr && experts->splits)
        for (std::size_t i = 0; i < (*experts->splits)->trace.size(); ++i)
            files.push_back(
                {fmt::format("/splits/trace/{}", i), (*experts->splits)->trace[i], "a trace"});
    const auto* training = std::get_if<TrainingWorkloadParams>(&workload);
    if (training == nullptr)
        return files;
    if (!training->table.empty())
        files.push_back({"/table", training->table, "a table of layers"});
    const std::filesystem::path network = training->network ? training->network->file() : "";
    if (!network.empty())
        files.push_back({"/network", network.string(), "a table of layers, or a profile"});
    if (!training->kernel_times.empty())
        files.push_back({"/kernel_times", training->kernel_times, "a table of measured kernels"});
    if (training->plan && training->plan->schedule.ends_with(".json"))
        files.push_back({"/plan/schedule", training->plan->schedule, "a schedule"});
    return files;
}

std::vector<WorkloadAt> workloads_of(const Experiment& experiment) {
    if (experiment.workload)
        return {{"/workload", *experiment.workload}};
    std::vector<WorkloadAt> all;
    for (std::size_t i = 0; i < experiment.workloads.size(); ++i)
        all.push_back({fmt::format("/workloads/{}/workload", i), experiment.workloads[i].workload});
    return all;
}

}  // namespace switchfold

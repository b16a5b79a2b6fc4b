// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/suite.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace switchfold::validation {

SuiteResult run_collectives(const SuiteOptions& options);
SuiteResult run_replay(const SuiteOptions& options);
SuiteResult run_overlap(const SuiteOptions& options);
SuiteResult run_step(const SuiteOptions& options);
SuiteResult run_experts(const SuiteOptions& options);
SuiteResult run_low_sm(const SuiteOptions& options);
SuiteResult run_training(const SuiteOptions& options);
SuiteResult run_plans(const SuiteOptions& options);
SuiteResult run_memory(const SuiteOptions& options);
SuiteResult run_kernels(const SuiteOptions& options);
SuiteResult run_elastic(const SuiteOptions& options);
SuiteResult run_averaging(const SuiteOptions& options);
SuiteResult run_experiments(const SuiteOptions& options);

std::span<const Suite> suites() {
    static constexpr std::array<Suite, 13> kSuites{
        {{"collectives", "times of collectives against logs of nccl-tests and tables",
          DataKind::kFiles, "reference/nccl_allreduce.csv", run_collectives, true},
         {"replay", "iteration time of traces' own schedules against the traced one",
          DataKind::kFolder, "traces", run_replay},
         {"overlap", "kernels beside collectives against the same kernels alone, from traces",
          DataKind::kFolder, "traces", run_overlap},
         {"step", "kernels and collectives of whole runs against the traced steps",
          DataKind::kFolder, "traces", run_step},
         {"experts",
          "dispatch and combine of mixture-of-experts layers against tables, time over SMs",
          DataKind::kFile, "reference/low_sm.csv", run_experts, false, true},
         {"low_sm", "kernels on symmetric memory and copy engines against measured times",
          DataKind::kFile, "reference/low_sm.csv", run_low_sm, false, true},
         {"kernels", "modelled times of matrix products and attention against measured ones",
          DataKind::kFile, "reference/gemm.csv", run_kernels},
         {"training",
          "pipeline schedules against what their authors computed, steps against measured ones",
          DataKind::kFiles, "reference/training", run_training},
         {"plans", "the plan that the simulator would choose against the fastest measured one",
          DataKind::kFile, "reference/training/plans.csv", run_plans},
         {"memory", "what planners pin, update policies hold and published rules of memory count",
          DataKind::kFile, "reference/training/memory.csv", run_memory},
         {"elastic", "times of changes of the device set, and what sets of devices reach",
          DataKind::kFile, "reference/training/elastic.csv", run_elastic},
         {"averaging", "exchanges of a framework over PCIe against measured times", DataKind::kFile,
          "reference/training/averaging.csv", run_averaging},
         {"experiments", "rows of any table whose columns name parameters, or that a map describes",
          DataKind::kFiles, "reference/experiments", run_experiments, true, true}}};
    return kSuites;
}

const Suite& suite_named(std::string_view name) {
    for (const Suite& suite : suites())
        if (suite.name == name)
            return suite;
    throw std::logic_error(fmt::format("no suite {}", name));
}

}  // namespace switchfold::validation

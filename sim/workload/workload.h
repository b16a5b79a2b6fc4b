// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/load.h"
#include "sim/output/result.h"
#include "sim/pool/pool.h"
#include "training/plan/step/plan_step.h"
#include "workloads/fold/folded_graph.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/graph/loops.h"
#include "workloads/profile/one_rank_times.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace switchfold {

/// An experiment's workload, ready to run on its machine.
struct PreparedWorkload {
    ExecutionGraph graph;                       ///< if folded, with placeholder times
    std::shared_ptr<const FoldedGraph> folded;  ///< if ranks represent others
    std::shared_ptr<const TrainingStep> plan;   ///< kept for experiments with learning
    std::optional<Loops> loops;  ///< of a kernel beside a collective; counts of 0 are to be found
    WorkloadResult report;
    bool unequal = false;     ///< ranks differ in GPUs, samples or speed
    bool peers_late = false;  ///< some untraced rank is late
    /// Kernels take what they took where the trace was recorded, on this GPU.
    bool kernels_as_traced = false;
    /// Of another GPU than the traced one, by launches that do not tell what kernels wait for:
    /// least and most of their times alone, of what they are taken as.
    std::pair<double, double> kernels_between{1, 1};
    std::optional<OneRankTimes> one_rank;  ///< of a trace of one rank that stands for several
    std::set<std::string> left_out;        ///< default scenarios that the machine cannot run
};

/// Folded workloads by their experiment, which scenarios with collectives of their own share.
using BuiltWorkloads = std::map<const Experiment*, PreparedWorkload>;

/// Reads or generates the workload of some scenarios and fits it to the machine. Throws
/// ConfigError: a group larger than the machine, an algorithm that its switches do not support,
/// missing ranks. `run` runs the simulations that it needs: collectives of a trace. `built`: those
/// of earlier variants, to which this one's is added.
[[nodiscard]] PreparedWorkload prepare_workload(
    const LoadedExperiment& loaded, const Variant& variant, const RunJobs& run = run_jobs_quietly,
    BuiltWorkloads* built = nullptr);
/// One of the workloads that share the machine, on its GPUs.
[[nodiscard]] PreparedWorkload prepare_placed(
    const LoadedExperiment& loaded, const Variant& variant, std::size_t index,
    const RunJobs& run = run_jobs_quietly);
/// That of the first scenario.
[[nodiscard]] PreparedWorkload prepare_workload(const LoadedExperiment& loaded);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/planner/judge.h"

#include "core/byte_codec.h"
#include "sim/config/planner_params.h"
#include "sim/machine/system_queries.h"
#include "sim/planner/machine_links.h"
#include "sim/pool/pool.h"
#include "sim/workload/plan_workload.h"
#include "training/memory/step/memory_step.h"
#include "training/plan/fold/folded_step.h"
#include "training/plan/step/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

/// Evaluates candidates in sequence.
class Judge {
public:
    explicit Judge(const LoadedExperiment& loaded) :
        loaded_(loaded),
        experiment_(loaded.experiment),
        gpu_(*experiment_.system->gpu),
        roomy_(gpu_),
        cuts_(std::make_shared<MachineCuts>(*experiment_.system)),
        machine_gpus_(gpus_of_machine(*experiment_.system)) {
        // The planner compares the needs with the memory itself, to report the difference.
        roomy_.memory.capacity = roomy_.memory.reserve = Bytes(0);
    }

    Judged operator()(const PlanCandidate& candidate) {
        // Candidates that differ only in their scenario are adjacent.
        const std::string name = name_of(candidate.plan);
        if (candidate.memory || name != name_) {
            name_ = candidate.memory ? "" : name;
            judged_ = {};
            prepare(candidate);
        }
        Judged judged = judged_;
        if (judged.fits && judged.refused.empty() && !candidate.memory)
            judged.bound = plan_bound(
                *prepared_->step,
                MachineLinks(cuts_, experiment_.scenarios[candidate.scenario].policies()));
        return judged;
    }

private:
    void prepare(const PlanCandidate& candidate) {
        TrainingWorkloadParams workload = *workload_of<TrainingWorkloadParams>(experiment_);
        workload.plan = params_of(candidate, workload);
        // Plans with equal work per stage have the same partition.
        const std::string stages = stages_key(candidate.plan);
        const bool balanced =
            workload.plan->partition.first.empty() && !workload.plan->partition.equal &&
            !workload.plan->partition.planner && !workload.plan->partition.replicated;
        if (const auto known = cuts_of_.find(stages); balanced && known != cuts_of_.end())
            workload.plan->partition.first = known->second;
        PlanProblems problems;
        prepared_ = prepare_plan(
            workload, candidate.memory ? gpu_ : roomy_, loaded_.file.parent_path(), problems);
        if (!prepared_) {
            const auto& [pointer, what] = problems.front();
            judged_.refused =
                fmt::format("{} {}", pointer.empty() ? "plan" : pointer.substr(1), what);
            return;
        }
        const TrainingStep& step = *prepared_->step;
        if (balanced) {
            std::vector<std::string>& first = cuts_of_[stages];
            first.clear();
            for (const std::uint32_t layer : step.plan().partition)
                first.push_back(std::to_string(layer));
        }
        for (const MemoryBytes& device : plan_memory(step))
            judged_.memory_bytes = std::max(judged_.memory_bytes, device.all());
        const auto capacity = static_cast<double>(gpu_.memory.for_plans().count());
        judged_.fits =
            candidate.memory.has_value() || capacity == 0 || judged_.memory_bytes <= capacity;
        judged_.fold = ranks_of(step.plan()) > experiment_.planner->fold_above &&
                       !candidate.memory && why_not_folded(step, machine_gpus_).empty();
        if (candidate.memory) {
            judged_.memory_bytes = static_cast<double>(
                std::min(prepared_->planned()->choice.bytes, gpu_.memory.for_plans()).count());
            judged_.bound = of_copies(*prepared_);
        }
    }

    /// Everything that a plan's partition depends on: the times of its stages, and their order.
    static std::string stages_key(const ParallelPlan& plan) {
        return fmt::format(
            "{} {} {} {} {} {} {} {} {}", plan.tensor, plan.context, stages_of(plan),
            plan.micro_batch, plan.sequence, static_cast<int>(plan.recompute), plan.pipeline,
            plan.accumulate, plan.schedule);
    }

    /// Bound for a step with host copies: its kernels, or its copies in one direction.
    [[nodiscard]] PlanBound of_copies(const PreparedPlan& prepared) const {
        const StageWork& work = prepared.step->work();
        PlanBound bound;
        for (std::uint32_t stage = 0; stage < work.stages(); ++stage)
            bound.arithmetic +=
                work.seconds(PassKind::kForward, stage) + work.seconds(PassKind::kBackward, stage);
        const auto rate = static_cast<double>(gpu_.copy.host_bandwidth.count());
        const OffloadPlan& plan = prepared.planned()->plan;
        if (rate > 0)
            bound.links = static_cast<double>(plan.bytes_in) / rate;
        return bound;
    }

    const LoadedExperiment& loaded_;
    const Experiment& experiment_;
    const GpuParams& gpu_;
    GpuParams roomy_;
    std::shared_ptr<const MachineCuts> cuts_;
    std::uint32_t machine_gpus_;
    std::string name_;  ///< name of the prepared plan
    std::optional<PreparedPlan> prepared_;
    Judged judged_;  ///< its evaluation without the bound by links
    std::map<std::string, std::vector<std::string>>
        cuts_of_;  ///< first layers of stages, by stages_key()
};

}  // namespace

std::vector<Judged> judge_all(
    const LoadedExperiment& loaded, std::span<const PlanCandidate> candidates, unsigned jobs,
    const JudgeProgress& progress) {
    constexpr std::size_t kPiece = 48;
    std::vector<Job> work;
    for (std::size_t from = 0; from < candidates.size(); from += kPiece) {
        const auto piece = candidates.subspan(from, std::min(kPiece, candidates.size() - from));
        work.push_back({"bounds", [&loaded, piece](const JobProgress& told) {
                            Judge judge(loaded);
                            std::vector<Judged> judged;
                            for (const PlanCandidate& candidate : piece) {
                                judged.push_back(judge(candidate));
                                const auto share = static_cast<double>(judged.size()) /
                                                   static_cast<double>(piece.size());
                                told(share, judged.size());
                            }
                            return value_bytes(judged);
                        }});
    }
    std::vector<std::vector<Judged>> pieces(work.size());
    const auto told = [&](const WorkerProgress& so_far) {
        if (progress)
            progress(so_far.share);
    };
    run_jobs(work, jobs, told, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(work[job], result);
        pieces[job] = value_of_bytes<std::vector<Judged>>(result.bytes);
    });
    std::vector<Judged> all;
    for (std::vector<Judged>& piece : pieces)
        std::move(piece.begin(), piece.end(), std::back_inserter(all));
    return all;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/planner/judge.h"

#include "core/byte_codec.h"
#include "sim/config/planner_params.h"
#include "sim/config/rank_gpus.h"
#include "sim/machine/system_queries.h"
#include "sim/planner/machine_links.h"
#include "sim/pool/pool.h"
#include "sim/workload/plan_workload.h"
#include "training/memory/step/memory_step.h"
#include "training/plan/fold/folded_step.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/step/rank_map.h"

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
        gpus_(*experiment_.system),
        roomy_(*experiment_.system),
        cuts_(std::make_shared<MachineCuts>(*experiment_.system)),
        machine_gpus_(gpus_of_machine(*experiment_.system)) {
        // The planner compares the needs with the memory itself, to report the difference.
        const auto make_roomy = [](GpuParams& gpu) {
            gpu.memory.capacity = gpu.memory.reserve = Bytes(0);
        };
        make_roomy(roomy_.gpu.value);
        for (GpuKindParams& kind : roomy_.gpus)
            make_roomy(kind.gpu.value);
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
            judged.bound =
                bound_of(MachineLinks(cuts_, experiment_.scenarios[candidate.scenario].policies()));
        return judged;
    }

private:
    [[nodiscard]] PlanBound bound_of(const MachineLinks& links) const {
        return prepared_->divided ? plan_bound(prepared_->divided->by_rank, links)
                                  : plan_bound(*prepared_->step, links);
    }

    /// Whether what a rank's GPU has to hold fits it.
    void hold(double bytes, const GpuParams& gpu) {
        judged_.memory_bytes = std::max(judged_.memory_bytes, bytes);
        const auto capacity = static_cast<double>(gpu.memory.for_plans().count());
        if (capacity == 0 || bytes - capacity <= judged_.lacks)
            return;
        judged_.lacks = bytes - capacity;
        judged_.needs = bytes;
        judged_.lacks_on = gpu.name;
    }

    void hold_all() {
        if (!prepared_->divided) {
            for (const MemoryBytes& device : plan_memory(*prepared_->step))
                hold(device.all(), gpus_.of(0));
            return;
        }
        const RankMap map(prepared_->step->plan());
        std::map<const TrainingStep*, std::vector<MemoryBytes>> known;
        for (std::uint32_t rank = 0; rank < map.ranks(); ++rank) {
            const TrainingStep* step = prepared_->divided->by_rank[rank];
            const auto [at, fresh] = known.try_emplace(step);
            if (fresh)
                at->second = plan_memory(*step);
            hold(at->second[map.place(rank).device].all(), gpus_.of(rank));
        }
    }

    void prepare(const PlanCandidate& candidate) {
        TrainingWorkloadParams workload = *workload_of<TrainingWorkloadParams>(experiment_);
        workload.plan = params_of(candidate, workload);
        // Plans with equal work per stage have the same partition, on equal GPUs.
        const std::string stages = stages_key(candidate.plan);
        const bool balanced = roomy_.gpus.empty() && workload.plan->partition.first.empty() &&
                              !workload.plan->partition.equal &&
                              !workload.plan->partition.planner &&
                              !workload.plan->partition.replicated;
        if (const auto known = cuts_of_.find(stages); balanced && known != cuts_of_.end())
            workload.plan->partition.first = known->second;
        PlanProblems problems;
        const RankGpus gpus(candidate.memory ? *experiment_.system : roomy_);
        prepared_ = prepare_plan(workload, gpus, loaded_.file.parent_path(), problems);
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
        hold_all();
        judged_.fits = candidate.memory.has_value() || judged_.lacks == 0;
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
    RankGpus gpus_;
    SystemParams roomy_;
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

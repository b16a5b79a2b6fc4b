// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/config/rank_gpus.h"
#include "sim/kinds/training/training_builders.h"
#include "sim/machine/system_queries.h"
#include "sim/workload/strategy_check.h"
#include "sim/workload/training_workload.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace switchfold {

namespace {

/// Strategies take network, plan and tasks in one: their steps are written layer by layer.
class StrategyBuilder final : public WorkloadBuilder {
public:
    StrategyBuilder(
        const TrainingWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) :
        WorkloadBuilder(context, out), w_(w), gpus_(context.rank_gpus()) {}

    void plan() override {
        ranks_ = context().ranks_of(w_.ranks);
        kinds_ = gpus_.used(ranks_);
        for (const std::uint32_t kind : kinds_)
            if (const GpuParams& gpu = *gpus_.kinds()[kind]; gpu.matrix_rate.count() == 0)
                context().fail(
                    "/workload/type",
                    fmt::format(
                        "is {}, and {} states no matrix_rate; expected a GPU that does",
                        TrainingWorkloadParams::kType, gpu.name));
        out().unequal = kinds_.size() > 1;
    }
    void graph() override {
        for (const std::uint32_t kind : kinds_)
            use_ranks(
                training_step(w_, *gpus_.kinds()[kind], ranks_, context().file().parent_path()),
                kind);
    }
    void machine() override {
        check_strategy();
        WorkloadResult& report = out().report;
        report.notes.push_back(
            "a generated step: kernels take the longer of their arithmetic at the GPU's "
            "matrix_rate and of their bytes at the bandwidth that streams reach");
        report.source = out().graph.provenance.source;
        report.synthetic = true;
        context().place(out().graph);
    }

private:
    void check_strategy() {
        const Network network = network_of(w_, context().file().parent_path());
        const StrategyCheck check(
            w_, network, out().graph,
            channel_buffers(
                *context().system().collectives,
                static_cast<std::uint32_t>(out().graph.ranks.size())));
        std::string note = "the step needs up to " + check.told();
        for (const std::uint32_t kind : kinds_) {
            const GpuParams& gpu = *gpus_.kinds()[kind];
            if (const std::string lack = check.lack(gpu); !lack.empty())
                context().lack_memory("/workload/batch", lack, out());
            else if (const Bytes capacity = gpu.memory.for_plans(); capacity.count() > 0)
                note += fmt::format(
                    "; batch {} is the largest that fits the {} of {}",
                    check.largest_batch(capacity), to_string(capacity), gpu.name);
        }
        out().report.notes.push_back(std::move(note));
    }

    /// Takes the ranks of one kind from a step whose ranks differ only in times.
    void use_ranks(ExecutionGraph of_kind, std::uint32_t kind) {
        if (out().graph.ranks.empty()) {
            out().graph = std::move(of_kind);
            return;
        }
        SWITCHFOLD_CHECK(
            of_kind.names == out().graph.names && of_kind.groups == out().graph.groups,
            "a step differs on {}", gpus_.kinds()[kind]->name);
        for (std::uint32_t rank = 0; rank < of_kind.ranks.size(); ++rank)
            if (gpus_.kind(rank) == kind)
                out().graph.ranks[rank] = of_kind.ranks[rank];
    }

    const TrainingWorkloadParams& w_;
    RankGpus gpus_;
    std::uint32_t ranks_ = 0;
    std::set<std::uint32_t> kinds_;
};

}  // namespace

std::unique_ptr<WorkloadBuilder> strategy_builder(
    const TrainingWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) {
    return std::make_unique<StrategyBuilder>(w, context, out);
}

}  // namespace switchfold

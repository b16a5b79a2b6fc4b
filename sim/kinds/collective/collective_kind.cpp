// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/collective/collective_params.h"
#include "sim/kinds/gpu_scenarios.h"
#include "sim/kinds/graph_kind.h"
#include "sim/kinds/workload_builder.h"
#include "sim/output/columns.h"
#include "sim/output/figure_text.h"
#include "sim/output/result_tables.h"
#include "sim/workload/buffer_check.h"
#include "workloads/graph/collective.h"

namespace switchfold {

namespace {

class CollectiveBuilder final : public WorkloadBuilder {
public:
    CollectiveBuilder(
        const CollectiveWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) :
        WorkloadBuilder(context, out), w_(w) {}

    void plan() override {
        ranks_ = context().ranks_of(w_.ranks);
        if (w_.size.count() % size_of(w_.datatype).count() != 0)
            context().fail(
                "/workload/size",
                "is not a whole number of elements; expected a multiple of the element's size");
    }
    void graph() override {
        out().graph = single_collective(w_.collective, w_.size, w_.datatype, ranks_);
        out().report.source = out().graph.names.front();
    }
    void machine() override {
        check_buffers({"/workload/size", to_string(w_.size)}, context(), out());
        context().place(out().graph);
    }

private:
    const CollectiveWorkloadParams& w_;
    std::uint32_t ranks_ = 0;
};

class CollectiveOfRanks final : public GraphKind {
public:
    CollectiveOfRanks() :
        GraphKind(
            {.name = CollectiveWorkloadParams::kType,
             .computes = false,
             .told = Told::kCollective}) {}

    [[nodiscard]] std::vector<ScenarioParams>
    default_scenarios(const Experiment& experiment) const override {
        const auto& w = *workload_of<CollectiveWorkloadParams>(experiment);
        if (w.collective != CollectiveKind::kAllReduce)
            return {by_rings()};
        return with_switches_across(experiment, {by_rings(), in_switches(false)});
    }
    [[nodiscard]] std::unique_ptr<WorkloadBuilder> builder(
        const Workload& workload, const WorkloadContext& context,
        PreparedWorkload& out) const override {
        return std::make_unique<CollectiveBuilder>(
            *workload.as<CollectiveWorkloadParams>(), context, out);
    }
    [[nodiscard]] std::string tables(const ExperimentResult& result) const override {
        std::vector<std::vector<std::string>> rows{
            {"scenario", "algorithm", "protocol", "blocks", "time", "algorithm GB/s", "bus GB/s"}};
        for (const ScenarioResult& s : result.scenarios)
            for (const CollectiveResult& c : s.collectives)
                rows.push_back(
                    {s.name, c.algorithm, c.protocol, fmt::format("{}", c.channels),
                     time_text(c.time_us), fmt::format("{:.1f}", c.algorithm_bandwidth_GBps),
                     fmt::format("{:.1f}", c.bus_bandwidth_GBps)});
        return align_columns(rows) + collective_intervals_table(result);
    }
    [[nodiscard]] bool is_one_collective(const ScenarioResult& scenario) const override {
        return !scenario.collectives.empty();
    }
};

}  // namespace

const WorkloadKind& kind_of(const CollectiveWorkloadParams& /*params*/) {
    static const CollectiveOfRanks kKind;
    return kKind;
}

}  // namespace switchfold

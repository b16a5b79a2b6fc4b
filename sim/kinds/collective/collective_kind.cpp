// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/gpu_scenarios.h"
#include "sim/kinds/graph_kind.h"
#include "sim/output/columns.h"
#include "sim/output/figure_text.h"
#include "sim/output/result_tables.h"
#include "sim/workload/buffer_check.h"
#include "sim/workload/workload_context.h"
#include "workloads/graph/collective.h"

namespace switchfold {

namespace {

class CollectiveOfRanks final : public GraphKind {
public:
    CollectiveOfRanks() : GraphKind({.name = CollectiveWorkloadParams::kType, .computes = false}) {}

    [[nodiscard]] std::vector<ScenarioParams>
    default_scenarios(const Experiment& experiment) const override {
        const auto& w = *workload_of<CollectiveWorkloadParams>(experiment);
        if (w.collective != CollectiveKind::kAllReduce)
            return {by_rings()};
        return with_switches_across(experiment, {by_rings(), in_switches(false)});
    }
    void read(const Workload& workload, const WorkloadContext& context, PreparedWorkload& out)
        const override {
        const auto& w = std::get<CollectiveWorkloadParams>(workload);
        const std::uint32_t ranks = context.ranks_of(w.ranks);
        if (w.size.count() % size_of(w.datatype).count() != 0)
            context.fail(
                "/workload/size",
                "is not a whole number of elements; expected a multiple of the element's size");
        out.graph = single_collective(w.collective, w.size, w.datatype, ranks);
        out.report.source = out.graph.names.front();
        check_buffers({"/workload/size", to_string(w.size)}, context, out);
        context.place(out.graph);
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

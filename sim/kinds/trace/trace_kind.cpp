// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"
#include "sim/kinds/gpu_scenarios.h"
#include "sim/kinds/graph_kind.h"
#include "sim/kinds/trace/trace_builder.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

class TraceKind final : public GraphKind {
public:
    TraceKind() : GraphKind({.name = TraceWorkloadParams::kType, .measured_as = "replayed"}) {}

    [[nodiscard]] std::vector<ScenarioParams>
    default_scenarios(const Experiment& experiment) const override {
        return scenarios_of_steps(experiment);
    }
    [[nodiscard]] std::vector<NamedFile> files(const Workload& workload) const override {
        const auto& w = *workload.as<TraceWorkloadParams>();
        std::vector<NamedFile> files;
        for (std::size_t i = 0; i < w.files.size(); ++i)
            files.push_back({fmt::format("/files/{}", i), w.files[i], "a trace"});
        return files;
    }
    [[nodiscard]] PlanProblems file_problems(const Workload& workload) const override {
        const auto& w = *workload.as<TraceWorkloadParams>();
        PlanProblems problems;
        if (w.files.empty())
            problems.emplace_back("/files", "is empty; expected at least one trace");
        if (w.traced_on && !(*w.traced_on)->has_gpus())
            problems.emplace_back(
                "/traced_on", fmt::format(
                                  "names {}, which has no GPUs; expected the machine of the trace",
                                  (*w.traced_on)->name));
        return problems;
    }
    void name_machine(OrderedJson& written, const SystemParams& described) const override {
        if (written["traced_on"].is_null())
            written["traced_on"] = system_json(described);
    }
    /// Collectives of folded ranks are measured.
    [[nodiscard]] bool follows_communication(const Experiment& experiment) const override {
        return is_to_fold(*workload_of<TraceWorkloadParams>(experiment), experiment);
    }
    [[nodiscard]] std::unique_ptr<WorkloadBuilder> builder(
        const Workload& workload, const WorkloadContext& context,
        PreparedWorkload& out) const override {
        return trace_builder(*workload.as<TraceWorkloadParams>(), context, out);
    }
};

}  // namespace

const WorkloadKind& kind_of(const TraceWorkloadParams& /*params*/) {
    static const TraceKind kKind;
    return kKind;
}

}  // namespace switchfold

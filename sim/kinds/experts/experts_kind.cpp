// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/routing.h"
#include "sim/kinds/experts/expert_splits.h"
#include "sim/kinds/experts/experts_workload.h"
#include "sim/kinds/graph_kind.h"
#include "sim/kinds/workload_builder.h"
#include "sim/output/columns.h"
#include "sim/output/figure_text.h"
#include "sim/output/result_tables.h"
#include "sim/workload/buffer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace switchfold {

namespace {

constexpr std::uint64_t kMostChoices = 1ULL << 26U;

ExpertExchange exchange_by_tokens(
    const ExpertsWorkloadParams& w, const WorkloadContext& context, std::uint32_t ranks) {
    if (std::uint64_t{*w.tokens} * w.top_k * ranks > kMostChoices)
        context.fail(
            "/workload/tokens",
            fmt::format(
                "is {}: with top_k {} and {} ranks more than {} choices of experts; expected "
                "fewer tokens",
                *w.tokens, w.top_k, ranks, kMostChoices));
    return exchange_of(w, context.experiment().seed);
}

ExpertExchange exchange_by_splits(
    const ExpertsWorkloadParams& w, const WorkloadContext& context, std::uint32_t ranks,
    PreparedWorkload& out) {
    ExpertExchange exchange = exchange_of(w, context.experiment().seed);
    exchange.splits = read_splits(w, context, ranks, out.report.notes);
    const std::uint64_t choices =
        std::accumulate(exchange.splits.begin(), exchange.splits.end(), std::uint64_t{0});
    if (choices == 0 || choices > kMostChoices)
        context.fail(
            "/workload/splits",
            fmt::format(
                "has {} rows in all; expected at least one and at most {}", choices, kMostChoices));
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        exchange.tokens = std::max(exchange.tokens, token_counts(exchange, ranks, rank).tokens);
    return exchange;
}

class ExpertsBuilder final : public WorkloadBuilder {
public:
    ExpertsBuilder(
        const ExpertsWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) :
        WorkloadBuilder(context, out), w_(w) {}

    void plan() override {
        ranks_ = context().ranks_of(w_.ranks);
        if (ranks_ < 2)
            context().fail(
                "/workload/ranks", "is 1, and nothing is exchanged; expected at least 2");
        if (w_.experts % ranks_ != 0)
            context().fail(
                "/workload/experts",
                fmt::format(
                    "is {}, which {} ranks cannot share evenly; expected a multiple of {}",
                    w_.experts, ranks_, ranks_));
    }
    /// Who sends how much to whom, which the scenarios' libraries must be able to.
    void tasks() override {
        exchange_ = w_.splits ? exchange_by_splits(w_, context(), ranks_, out())
                              : exchange_by_tokens(w_, context(), ranks_);
        const SystemParams& system = context().system();
        const Topology topology = build_topology(system.topology);
        const ExpertsMachine machine = experts_machine(system, topology, ranks_);
        const auto& scenarios = context().scenarios();
        for (const std::size_t i : context().variant_scenarios()) {
            const ExpertsCall experts{exchange_, scenarios[i].collectives.experts, machine};
            const Refusal refusal = refused_exchange(system, topology, experts);
            if (!refusal)
                continue;
            context().fail(
                fmt::format("/scenarios/{}/collectives/experts/{}", i, refusal.field),
                refusal.value.empty() ? refusal.why
                                      : fmt::format(
                                            "is {}, which {} cannot run: {}", refusal.value,
                                            system.name, refusal.why));
        }
    }
    void graph() override {
        out().graph = experts_step(w_.operation, exchange_, ranks_);
        out().report.source = out().graph.names.front();
    }
    void machine() override {
        const BufferCheck buffers =
            w_.splits
                ? BufferCheck{.pointer = "/workload/splits", .size = "of this many tokens"}
                : BufferCheck{.pointer = "/workload/tokens", .size = std::to_string(*w_.tokens)};
        check_buffers(buffers, context(), out());
        context().place(out().graph);
    }

private:
    const ExpertsWorkloadParams& w_;
    std::uint32_t ranks_ = 0;
    ExpertExchange exchange_;
};

class ExpertsKind final : public GraphKind {
public:
    ExpertsKind() :
        GraphKind(
            {.name = ExpertsWorkloadParams::kType, .computes = false, .told = Told::kExchanges}) {}

    [[nodiscard]] std::vector<ScenarioParams>
    default_scenarios(const Experiment& /*experiment*/) const override {
        return {{"deepep_normal", true, {}}};
    }
    [[nodiscard]] std::vector<NamedFile> files(const Workload& workload) const override {
        const auto& w = *workload.as<ExpertsWorkloadParams>();
        std::vector<NamedFile> files;
        if (w.splits)
            for (std::size_t i = 0; i < (*w.splits)->trace.size(); ++i)
                files.push_back(
                    {fmt::format("/splits/trace/{}", i), (*w.splits)->trace[i], "a trace"});
        return files;
    }
    [[nodiscard]] std::unique_ptr<WorkloadBuilder> builder(
        const Workload& workload, const WorkloadContext& context,
        PreparedWorkload& out) const override {
        return std::make_unique<ExpertsBuilder>(
            *workload.as<ExpertsWorkloadParams>(), context, out);
    }
    [[nodiscard]] std::string tables(const ExperimentResult& result) const override {
        std::vector<std::vector<std::string>> rows{
            {"scenario", "exchange", "library", "SMs", "time", "GB/s"}};
        for (const ScenarioResult& s : result.scenarios)
            for (const CollectiveResult& c : s.collectives)
                rows.push_back(
                    {s.name, c.name, c.algorithm, fmt::format("{}", c.channels),
                     time_text(c.time_us), fmt::format("{:.1f}", c.algorithm_bandwidth_GBps)});
        return align_columns(rows) + collective_intervals_table(result) +
               "\n"
               "GB/s: what the busiest rank sends or gets, its own tokens included.\n";
    }
    /// A dispatch and its combine are two.
    [[nodiscard]] bool is_one_collective(const ScenarioResult& scenario) const override {
        return scenario.collectives.size() == 1;
    }
};

}  // namespace

const WorkloadKind& kind_of(const ExpertsWorkloadParams& /*params*/) {
    static const ExpertsKind kKind;
    return kKind;
}

}  // namespace switchfold

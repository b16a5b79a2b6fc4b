// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/trace_builder.h"

#include "core/named_path.h"
#include "sim/kinds/trace/collective_sizes.h"
#include "sim/kinds/trace/counted_kernels.h"
#include "sim/kinds/trace/late_peers.h"
#include "sim/kinds/trace/never_alone.h"
#include "sim/kinds/trace/traced_gpus.h"
#include "sim/kinds/trace/traced_kernels.h"
#include "sim/machine/system_queries.h"
#include "sim/workload/buffer_check.h"
#include "sim/workload/folded_workload.h"
#include "sim/workload/slow_ranks.h"
#include "sim/workload/workload_context.h"
#include "workloads/fold/fold_alike.h"
#include "workloads/profile/assumptions.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/profile/whole_run.h"
#include "workloads/readers/read_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// Up to so many ranks all are simulated, unless the experiment says otherwise.
constexpr std::uint32_t kMostWhole = 32;

class TraceBuilder final : public WorkloadBuilder {
public:
    TraceBuilder(
        const TraceWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) :
        WorkloadBuilder(context, out),
        w_(w),
        traced_on_(w.traced_on ? &**w.traced_on : &context.described_system()) {}

    void network() override {
        ReadOptions options;
        for (const std::string& file : w_.files)
            options.files.push_back(path_named_in(context().file(), file));
        trace_ = read_traces(options);
        const std::uint32_t world = trace_.graph.provenance.world_size;
        ranks_ = w_.ranks == 0 ? world : w_.ranks;
        if (ranks_ > context().gpus())
            context().fail(
                "/workload", fmt::format(
                                 "is a run of {} ranks and {} has {} GPUs; expected at most those",
                                 ranks_, context().system().name, context().gpus()));
        tell_contradictions(trace_);
    }
    void plan() override {
        if (stands_for_all() && ranks_ > 1)
            out().one_rank = one_rank_times(trace_);
        if (told_by_traced_run()) {
            find_open(trace_.graph, [](std::uint32_t rank) { return rank; });
            found_ = true;
        }
        complete_ranks();
        if (!stands_for_all() && w_.peers == Peers::kTogether)
            context().fail(
                "/workload/peers",
                fmt::format(
                    "is together, and {} ranks were traced, which arrive when their traces say; "
                    "expected as_traced, or one trace that stands for all ranks",
                    trace_.files.size()));
        for (const Group& group : trace_.graph.groups)
            for (const std::uint32_t rank : group.ranks)
                if (rank >= ranks_)
                    context().fail(
                        "/workload",
                        fmt::format(
                            "group {} holds rank {} of a run of {} ranks; expected ranks below "
                            "that",
                            group.name, rank, ranks_));
    }
    void graph() override {
        out().graph = std::move(trace_.graph);
        if (out().one_rank)
            out().one_rank->held = held_by_messages(out().graph);
        check_traced_memory(trace_.files, context(), out());
        context().place(out().graph);
        report();
    }
    void machine() override {
        if (!found_)
            find_open(out().graph, [&](std::uint32_t gpu) { return context().workload_rank(gpu); });
        set_counted_kernels(context(), out());
        set_traced_kernels(w_, context(), *traced_on_, trace_.files, out());
        if (!out().graph.represents.empty())
            fold();
    }

private:
    [[nodiscard]] bool stands_for_all() const { return trace_.files.size() == 1; }

    void report() {
        WorkloadResult& report = out().report;
        const auto& provenance = out().graph.provenance;
        report.source = joined(w_.files);  // as the user wrote them
        report.synthetic = provenance.synthetic;
        report.traced_ranks = provenance.traced_ranks;
        if (!report.synthetic && provenance.measured_iteration > Time())
            report.measured_iteration_us = to_microseconds(provenance.measured_iteration);
        for (const TraceFileReport& file : trace_.files)
            add_report(file);
        for (std::string& assumption : assumptions_of(trace_.files))
            report.notes.push_back(std::move(assumption));
    }

    using RankOnGpu = std::function<std::uint32_t(std::uint32_t gpu)>;

    /// Whether what the trace leaves open is told by the ranks that ran, because more are asked for
    /// and groups grow with them.
    [[nodiscard]] bool told_by_traced_run() const {
        const ExecutionGraph& graph = trace_.graph;
        const std::uint32_t world = graph.provenance.world_size;
        if (world < 2 || world >= ranks_ || (!stands_for_all() && trace_.files.size() != world))
            return false;
        // The run tells what groups are that the trace does not name.
        return std::none_of(graph.ranks.begin(), graph.ranks.end(), [&](const auto& rank) {
            return std::any_of(
                rank->operations.begin(), rank->operations.end(), [&](const Operation& operation) {
                    const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
                    return collective != nullptr &&
                           graph.groups[collective->group].ranks.size() < 2;
                });
        });
    }

    /// What the trace leaves open follows from the machine that it was recorded on.
    void find_open(ExecutionGraph& graph, const RankOnGpu& rank_on) {
        check_traced_on(graph);
        find_sizes(graph);
        find_times_alone(graph, rank_on);
    }

    /// Sizes of collectives, and how late the ranks are that one trace represents.
    void find_sizes(ExecutionGraph& graph) {
        std::vector<std::string>& notes = out().report.notes;
        const UnknownSizes unknown = estimate_collective_sizes(
            *traced_on_, graph, simulate_options(context().experiment()), context().run());
        if (stands_for_all() && ranks_ > 1)
            set_peers(w_.peers, trace_.files.front(), graph);
        if (unknown.estimated > 0)
            notes.push_back(fmt::format(
                "the trace does not say how large {} collectives are: sizes were estimated from "
                "their shortest durations on {}",
                unknown.estimated, traced_on_->name));
        if (unknown.given > 0)
            notes.push_back(fmt::format(
                "the trace does not say how large {} collectives are, and on {} no size takes "
                "their shortest durations: they take these in every scenario, without traffic",
                unknown.given, traced_on_->name));
    }

    /// What kernels take alone that ran beside collectives each time.
    void find_times_alone(ExecutionGraph& graph, const RankOnGpu& rank_on) {
        TracedGpus gpus(context().file(), *traced_on_);
        std::vector<TracedGpu> of_file;
        for (const TraceFileReport& file : trace_.files)
            of_file.push_back(gpus.of(stated_gpu(file)));
        const NeverAlone all = set_never_alone(
            *traced_on_, graph, trace_.measured,
            [&](std::uint32_t gpu) {
                const std::size_t file = rank_on(gpu) % trace_.files.size();
                return TracedRank{file, &of_file[file].gpu};
            },
            simulate_options(context().experiment()), context().run());
        if (all.kernels == 0)
            return;
        const std::string what = fmt::format(
            "{} kernels never ran without communication beside them ({:.1f} % of the kernels' "
            "time): ",
            all.kernels, 100 * all.share);
        out().report.notes.push_back(
            all.solved ? what + fmt::format(
                                    "alone they take {:.1f} % less, with which the model gives "
                                    "what they took on {} beside what was there",
                                    100 * (1 - to_seconds(all.alone) / to_seconds(all.traced)),
                                    of_file.front().gpu.name)
                       : what + "their measured durations stand for isolated ones");
    }

    /// Collectives are simulated alone there, on the ranks that take part.
    void check_traced_on(const ExecutionGraph& graph) const {
        std::size_t ranks = graph.ranks.size();
        for (const Group& group : graph.groups)
            for (const std::uint32_t rank : group.ranks)
                ranks = std::max<std::size_t>(ranks, rank + 1);
        if (w_.traced_on && gpus_of(*traced_on_) < ranks)
            context().fail(
                "/workload/traced_on",
                fmt::format(
                    "is {} with {} GPUs, and the run has {} ranks; expected at least those",
                    traced_on_->name, gpus_of(*traced_on_), ranks));
    }

    /// What is replayed is the order on the streams, not the times that contradict it.
    void tell_contradictions(const TraceWorkload& trace) {
        const std::vector<Problem> contradictions = impossible_orders(trace);
        if (!contradictions.empty())
            out().report.notes.push_back(fmt::format(
                "the trace cannot be trusted: {} (`switchfold trace check` names more)",
                contradictions.front().text()));
    }

    /// Untraced ranks are generated only at the user's request.
    void complete_ranks() {
        const std::string whole = why_whole();
        const bool folds = is_to_fold(w_, context().experiment());
        slow_ = slow_ranks(context(), ranks_);
        WholeRun run =
            complete_run(trace_, ranks_, w_.ranks != 0, {folds && whole.empty(), kinds_of(slow_)});
        orbits_ = std::move(run.orbits);
        if (folds && trace_.graph.represents.empty() && run.problems.empty())
            out().report.notes.push_back(fmt::format(
                "every one of {} ranks is simulated: {}", ranks_,
                whole.empty() ? "they send to each other" : whole));
        if (!run.problems.empty())
            context().fail(
                stands_for_all() && w_.ranks != 0 ? "/workload" : "/workload/files",
                run.problems.front());
        for (std::string& note : run.notes)
            out().report.notes.push_back(std::move(note));
    }

    /// Why no rank stands for others that do the same; empty if some do.
    [[nodiscard]] std::string why_whole() const {
        const Experiment& experiment = context().experiment();
        const SystemParams& system = context().system();
        if (context().rank_gpus().used(ranks_).size() > 1)
            return "they have different GPUs";
        if (!experiment.faults.empty() || !system.faults.empty())
            return "faults of the machine meet some of them";
        if (experiment.functional)
            return "the numbers of all are reduced (/functional)";
        return why_all_are_met(context());
    }

    /// Ranks that are not like others are simulated beside those that stand for others.
    void fold() {
        const SystemParams& system = context().system();
        const std::size_t all = out().graph.ranks.size();
        const std::size_t traced = ranks_at_work(out().graph);
        slow_down(out().graph, slow_);
        out().unequal = !slow_.empty();
        out().folded = std::make_shared<const FoldedGraph>(
            fold_alike(std::move(out().graph), orbits_, gpus_of_machine(system), ways_out(system)));
        out().graph = out().folded->probe();
        out().report.notes.push_back(fmt::format(
            "folded: {} simulated for all {}; collectives take what they took on all ranks with "
            "nothing beside them and keep their thread blocks and memory traffic beside kernels, "
            "and what they take from each other on links is left out (/workload/fold false "
            "simulates every rank)",
            traced == 1 ? "one rank is" : fmt::format("{} ranks are", traced), all));
    }

    /// Sets how late the ranks arrive that one trace represents.
    void
    set_peers(std::optional<Peers> asked, const TraceFileReport& traced, ExecutionGraph& graph) {
        // A benchmark's times cover all ranks together, and in a generated run nobody waited.
        const auto& ranks = graph.ranks;
        const bool residences = std::any_of(
            ranks.begin(), ranks.end(), [](const auto& rank) { return has_residences(*rank); });
        const bool waits = residences && !traced.synthetic && traced.format != "nccl-tests";
        if (asked == Peers::kAsTraced && !waits)
            context().fail(
                "/workload/peers",
                "is as_traced, and the trace says of no collective how long it was resident in a "
                "real run; expected together");
        const std::string whose =
            fmt::format("rank {}'s trace stands for all {} ranks", traced.rank, ranks_);
        std::vector<std::string>& notes = out().report.notes;
        if (asked.value_or(waits ? Peers::kAsTraced : Peers::kTogether) == Peers::kTogether) {
            notes.push_back(whose + ": no rank is ever late");
            return;
        }
        const LatePeers late = derive_late_peers(
            *traced_on_, graph, simulate_options(context().experiment()), context().run());
        out().peers_late = late.waited > 0;
        notes.push_back(fmt::format(
            "{}, and the others are as late as it saw: of {} collectives {} were resident for "
            "longer than {} needs for the transfer, by {:.0f} us each; the others come as late in "
            "every scenario",
            whose, late.collectives, late.waited, traced_on_->name,
            late.waited > 0 ? to_microseconds(late.waiting) / static_cast<double>(late.waited)
                            : 0.0));
    }

    static std::string joined(const std::vector<std::string>& files) {
        std::string all;
        for (const std::string& file : files)
            all += (all.empty() ? "" : ", ") + file;
        return all;
    }

    void add_report(const TraceFileReport& file) {
        WorkloadResult& report = out().report;
        const auto add = [](auto& to, const auto& from) {
            for (const auto& [key, value] : from)
                to[key] += value;
        };
        add(report.used, file.used);
        add(report.dropped, file.dropped);
        add(report.duration_sources, file.durations);
        add(report.byte_sources, file.bytes);
        add(report.size_sources, file.sizes);
    }

    const TraceWorkloadParams& w_;
    const SystemParams* traced_on_;
    TraceWorkload trace_;
    std::uint32_t ranks_ = 0;
    std::vector<std::vector<std::uint32_t>> orbits_;  ///< of groups, if ranks are folded
    std::vector<SlowRank> slow_;
    bool found_ = false;  ///< what the trace leaves open
};

}  // namespace

bool is_to_fold(const TraceWorkloadParams& w, const Experiment& experiment) {
    return w.ranks > w.files.size() &&
           w.fold.value_or(w.ranks > kMostWhole && experiment.may_leave_out() != Fidelity::kExact);
}

std::unique_ptr<WorkloadBuilder>
trace_builder(const TraceWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) {
    return std::make_unique<TraceBuilder>(w, context, out);
}

}  // namespace switchfold

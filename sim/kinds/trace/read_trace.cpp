// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/read_trace.h"

#include "core/named_path.h"
#include "sim/kinds/trace/collective_sizes.h"
#include "sim/kinds/trace/late_peers.h"
#include "sim/kinds/trace/traced_kernels.h"
#include "sim/machine/system_queries.h"
#include "sim/workload/buffer_check.h"
#include "sim/workload/workload_context.h"
#include "workloads/profile/assumptions.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/profile/whole_run.h"
#include "workloads/readers/read_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

class TraceReader {
public:
    TraceReader(const WorkloadContext& context, PreparedWorkload& out) :
        context_(context), traced_on_(&context.described_system()), out_(out) {}

    void run(const TraceWorkloadParams& w) {
        if (w.traced_on)
            traced_on_ = &**w.traced_on;
        ReadOptions options;
        for (const std::string& file : w.files)
            options.files.push_back(path_named_in(context_.file(), file));
        TraceWorkload trace = read_traces(options);
        const std::uint32_t world = trace.graph.provenance.world_size;
        const std::uint32_t ranks = w.ranks == 0 ? world : w.ranks;
        if (ranks > context_.gpus())
            context_.fail(
                "/workload", fmt::format(
                                 "is a run of {} ranks and {} has {} GPUs; expected at most those",
                                 ranks, context_.system().name, context_.gpus()));
        WorkloadResult& report = out_.report;
        const bool stands_for_all = trace.files.size() == 1;
        tell_contradictions(trace);
        if (stands_for_all && ranks > 1)
            out_.one_rank = one_rank_times(trace);
        complete_ranks(w, trace, ranks);
        if (!stands_for_all && w.peers == Peers::kTogether)
            context_.fail(
                "/workload/peers",
                fmt::format(
                    "is together, and {} ranks were traced, which arrive when their traces say; "
                    "expected as_traced, or one trace that stands for all ranks",
                    trace.files.size()));
        for (const Group& group : trace.graph.groups)
            for (const std::uint32_t rank : group.ranks)
                if (rank >= ranks)
                    context_.fail(
                        "/workload",
                        fmt::format(
                            "group {} holds rank {} of a run of {} ranks; expected ranks below "
                            "that",
                            group.name, rank, ranks));
        out_.graph = std::move(trace.graph);
        if (out_.one_rank)
            out_.one_rank->held = held_by_messages(out_.graph);
        check_traced_memory(trace.files, context_, out_);
        context_.place(out_.graph);
        report.source = joined(w.files);  // as the user wrote them
        report.synthetic = out_.graph.provenance.synthetic;
        report.traced_ranks = out_.graph.provenance.traced_ranks;
        const Time measured = out_.graph.provenance.measured_iteration;
        if (!report.synthetic && measured > Time())
            report.measured_iteration_us = to_microseconds(measured);
        for (const TraceFileReport& file : trace.files)
            add_report(file);
        for (std::string& assumption : assumptions_of(trace.files))
            report.notes.push_back(std::move(assumption));
        check_traced_on(w);
        const UnknownSizes unknown = estimate_collective_sizes(
            *traced_on_, out_.graph, simulate_options(context_.experiment()), context_.run());
        if (stands_for_all && ranks > 1)
            set_peers(w.peers, trace.files.front());
        if (unknown.estimated > 0)
            report.notes.push_back(fmt::format(
                "the trace does not say how large {} collectives are: sizes were estimated from "
                "their shortest durations on {}",
                unknown.estimated, traced_on_->name));
        if (unknown.given > 0)
            report.notes.push_back(fmt::format(
                "the trace does not say how large {} collectives are, and on {} no size takes "
                "their shortest durations: they take these in every scenario, without traffic",
                unknown.given, traced_on_->name));
        set_traced_kernels(w, context_, *traced_on_, trace.files, out_);
        const auto overlapped = report.duration_sources.find("measured_overlapped");
        if (overlapped != report.duration_sources.end())
            report.notes.push_back(fmt::format(
                "{} kernels never ran without communication beside them: their measured durations "
                "stand for isolated ones",
                overlapped->second));
    }

private:
    /// Collectives are simulated alone there, on as many ranks as here.
    void check_traced_on(const TraceWorkloadParams& w) const {
        const std::size_t ranks = out_.graph.ranks.size();
        if (w.traced_on && gpus_of(*traced_on_) < ranks)
            context_.fail(
                "/workload/traced_on",
                fmt::format(
                    "is {} with {} GPUs, and the run has {} ranks; expected at least those",
                    traced_on_->name, gpus_of(*traced_on_), ranks));
    }

    /// What is replayed is the order on the streams, not the times that contradict it.
    void tell_contradictions(const TraceWorkload& trace) {
        const std::vector<Problem> contradictions = impossible_orders(trace);
        if (!contradictions.empty())
            out_.report.notes.push_back(fmt::format(
                "the trace cannot be trusted: {} (`switchfold trace check` names more)",
                contradictions.front().text()));
    }

    /// Untraced ranks are generated only at the user's request.
    void complete_ranks(const TraceWorkloadParams& w, TraceWorkload& trace, std::uint32_t ranks) {
        WholeRun run = complete_run(trace, ranks, w.ranks != 0);
        if (!run.problems.empty())
            context_.fail(
                trace.files.size() == 1 && w.ranks != 0 ? "/workload" : "/workload/files",
                run.problems.front());
        for (std::string& note : run.notes)
            out_.report.notes.push_back(std::move(note));
    }

    /// Sets how late the ranks arrive that one trace represents.
    void set_peers(std::optional<Peers> asked, const TraceFileReport& traced) {
        // A benchmark's times cover all ranks together, and in a generated run nobody waited.
        const auto& ranks = out_.graph.ranks;
        const bool residences = std::any_of(
            ranks.begin(), ranks.end(), [](const auto& rank) { return has_residences(*rank); });
        const bool waits = residences && !traced.synthetic && traced.format != "nccl-tests";
        if (asked == Peers::kAsTraced && !waits)
            context_.fail(
                "/workload/peers",
                "is as_traced, and the trace says of no collective how long it was resident in a "
                "real run; expected together");
        const std::string whose = fmt::format(
            "rank {}'s trace stands for all {} ranks", traced.rank, ranks_at_work(out_.graph));
        std::vector<std::string>& notes = out_.report.notes;
        if (asked.value_or(waits ? Peers::kAsTraced : Peers::kTogether) == Peers::kTogether) {
            notes.push_back(whose + ": no rank is ever late");
            return;
        }
        const LatePeers late = derive_late_peers(
            *traced_on_, out_.graph, simulate_options(context_.experiment()), context_.run());
        out_.peers_late = late.waited > 0;
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
        WorkloadResult& report = out_.report;
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

    const WorkloadContext& context_;
    const SystemParams* traced_on_;
    PreparedWorkload& out_;
};

}  // namespace

void read_trace(
    const TraceWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) {
    TraceReader(context, out).run(w);
}

}  // namespace switchfold

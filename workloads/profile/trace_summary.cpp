// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/trace_summary.h"

#include "workloads/graph/clock_noise.h"
#include "workloads/profile/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

using Measured = TraceWorkload::Measured;

/// Adds with saturation: a sum of many long times may overflow.
void accumulate(Time& sum, Time more) {
    sum = more > kTimeMax - sum ? kTimeMax : sum + more;
}

Time total(const BigVector<Interval>& merged) {
    Time sum;
    for (const Interval& interval : merged.pass())
        accumulate(sum, Time(interval.end - interval.start));
    return sum;
}

class Summariser {
public:
    Summariser(const TraceWorkload& workload, std::size_t rank) :
        graph_(workload.graph),
        rank_(*workload.graph.ranks.at(rank)),
        measured_(workload.measured.at(rank)) {}

    TraceSummary run() {
        for (std::size_t i = 0; i < rank_.operations.size(); ++i) {
            rank_.operations.forget_at(i);
            measured_.forget_at(i);
            const Operation& operation = rank_.operations[i];
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
                add(operation, *kernel);
                busy(compute_, i);
            } else if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                add(static_cast<unsigned>(c->kind), to_string(c->kind), c->bytes, c->measured);
                busy(communication_, i);
            } else if (const auto* send = std::get_if<SendOperation>(&operation.body)) {
                add(kSends, "send", send->bytes, measured(i));
                busy(communication_, i);
            } else if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body)) {
                add(kReceives, "receive", receive->bytes, measured(i));
                busy(communication_, i);
            }
        }
        add_lists();
        merge_intervals(compute_);
        merge_intervals(communication_);
        summary_.compute = total(compute_);
        summary_.communication = total(communication_);
        for (const Interval& interval : communication_.pass())
            accumulate(summary_.overlapped, Time(covered(compute_, interval.start, interval.end)));
        return std::move(summary_);
    }

private:
    // Behind all collectives.
    static constexpr unsigned kSends = 256;
    static constexpr unsigned kReceives = 257;

    void busy(BigVector<Interval>& intervals, std::size_t index) const {
        if (index < measured_.size())
            intervals.push_back({measured_[index].start.count(), measured_[index].end.count()});
    }

    void add(const Operation& operation, const KernelOperation& kernel) {
        auto& phase = phases_[operation.phase];
        ++phase.kernels;
        accumulate(phase.time, kernel.measured);
        auto& same = kernels_[operation.name];
        ++same.count;
        accumulate(same.time, kernel.measured);
        if (kernel.duration_source == DurationSource::kOtherOccurrence) {
            ++summary_.slowed_kernels;
            accumulate(summary_.slowed_beside, kernel.measured);
            accumulate(summary_.slowed_alone, kernel.isolated);
        }
    }

    [[nodiscard]] Time measured(std::size_t index) const {
        return index < measured_.size() ? measured_[index].end - measured_[index].start : Time();
    }

    void add(unsigned place, std::string_view kind, Bytes bytes, Time time) {
        auto& same = collectives_[{place, bytes.count()}];
        same.kind = kind;
        same.bytes = bytes;
        same.shortest = same.count == 0 ? time : std::min(same.shortest, time);
        accumulate(same.time, time);
        ++same.count;
    }

    void add_lists() {
        for (auto& [phase, sums] : phases_) {
            sums.name = to_string(phase);
            summary_.phases.push_back(std::move(sums));
        }
        for (auto& [name, sums] : kernels_) {
            sums.name = graph_.names[name];
            summary_.kernels.push_back(std::move(sums));
        }
        std::stable_sort(
            summary_.kernels.begin(), summary_.kernels.end(),
            [](const auto& a, const auto& b) { return a.time > b.time; });
        for (auto& [key, sums] : collectives_)
            summary_.collectives.push_back(sums);
    }

    const ExecutionGraph& graph_;
    const RankGraph& rank_;
    const BigVector<Measured>& measured_;
    std::map<Phase, TraceSummary::Phase> phases_;
    std::map<std::uint32_t, TraceSummary::Kernel> kernels_;
    /// By kind, then size.
    std::map<std::pair<unsigned, std::uint64_t>, TraceSummary::Collective> collectives_;
    BigVector<Interval> compute_;
    BigVector<Interval> communication_;
    TraceSummary summary_;
};

constexpr std::size_t kMostOverlaps = 20;

}  // namespace

double TraceSummary::slowdown() const {
    return slowed_alone == Time()
               ? 0
               : to_microseconds(slowed_beside) / to_microseconds(slowed_alone) - 1;
}

TraceSummary summarise(const TraceWorkload& workload, std::size_t rank) {
    return Summariser(workload, rank).run();
}

std::vector<Problem> impossible_orders(const TraceWorkload& workload) {
    std::vector<Problem> problems;
    const ExecutionGraph& graph = workload.graph;
    for (std::size_t r = 0; r < graph.ranks.size() && r < workload.measured.size(); ++r) {
        const RankGraph& rank = *graph.ranks[r];
        const BigVector<Measured>& measured = workload.measured[r];
        std::vector<std::size_t> last(rank.streams.size(), SIZE_MAX);
        const auto look = [&](std::size_t before, std::size_t after, const char* why) {
            if (measured[before].end <= measured[after].start + kClockNoise ||
                problems.size() == kMostOverlaps)
                return;
            problems.push_back(
                {workload.files[r].file, fmt::format("operation {}", after),
                 fmt::format(
                     "{} began {:.3f} us before {} ended, {}; expected it after that",
                     graph.names[rank.operations[after].name],
                     to_microseconds(measured[before].end - measured[after].start),
                     graph.names[rank.operations[before].name], why)});
        };
        for (std::size_t i = 0; i < rank.operations.size() && i < measured.size(); ++i) {
            rank.operations.forget_at(i);
            measured.forget_at(i);
            const Operation& operation = rank.operations[i];
            if (rank.streams[operation.stream].kind != StreamKind::kGpu)
                continue;  // host operations have no measured times
            for (const std::uint32_t dependency : operation.dependencies)
                look(dependency, i, "which it waits for");
            if (last[operation.stream] != SIZE_MAX)
                look(last[operation.stream], i, "which is before it on its stream");
            last[operation.stream] = i;
        }
    }
    return problems;
}

}  // namespace switchfold

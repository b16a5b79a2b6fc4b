// SPDX-License-Identifier: Apache-2.0
#include "sim/results/timeline.h"

#include "models/collectives/engine.h"
#include "sim/results/memory_over_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

class ScenarioTimeline {
public:
    ScenarioTimeline(
        TimelineWriter& writer, const std::string& scenario, const ExecutionGraph& graph,
        const Outcome& outcome) :
        writer_(writer), scenario_(scenario), graph_(graph), outcome_(outcome) {}

    void add() {
        const RankGraph* last = nullptr;
        for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r) {
            // Of ranks that share a trace, only the first is shown.
            if (graph_.ranks[r].get() == last)
                continue;
            last = graph_.ranks[r].get();
            const std::uint32_t pid = writer_.add_process(scenario_, r);
            add_rank(pid, r);
            add_steps(pid, *graph_.ranks[r], outcome_.times[r]);
            add_passes(pid, *graph_.ranks[r], outcome_.times[r]);
            writer_.add(pid, memory_over_time(graph_, outcome_, r));
            if (r == 0) {
                for (const CounterSample& sample : outcome_.counters)
                    writer_.add(pid, sample);
                add_switches(pid);
            }
        }
    }

private:
    void add_rank(std::uint32_t pid, std::uint32_t r) {
        const RankGraph& rank = *graph_.ranks[r];
        const std::vector<OperationTimes>& times = outcome_.times[r];
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            if (rank.streams[operation.stream].kind != StreamKind::kGpu)
                continue;
            TimelineSlice slice;
            slice.rank = r;
            slice.stream = operation.stream;
            slice.stream_name = rank.streams[operation.stream].name;
            slice.name = graph_.names[operation.name];
            slice.start_ps = times[i].start.count();
            slice.end_ps = times[i].end.count();
            slice.correlation = i + 1;
            slice.category = "kernel";
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
                slice.isolated_ps = kernel->isolated.count();
            else if (std::holds_alternative<CopyOperation>(operation.body))
                slice.category = "gpu_memcpy";
            else
                slice.communication = true;
            writer_.add(pid, slice);
            if (slice.communication && slice.end_ps > slice.start_ps)
                if (const auto from = awaited(rank, operation, times))
                    writer_.add_flow(
                        {pid, rank.operations[*from].stream, last_moment(times[*from])},
                        {pid, operation.stream, slice.start_ps});
        }
    }

    /// The operation that ended last among those on other streams that `operation` waited for.
    static std::optional<std::uint32_t> awaited(
        const RankGraph& rank, const Operation& operation,
        const std::vector<OperationTimes>& times) {
        std::optional<std::uint32_t> found;
        for (const std::uint32_t d : operation.dependencies)
            if (std::holds_alternative<KernelOperation>(rank.operations[d].body) &&
                rank.operations[d].stream != operation.stream && times[d].end > times[d].start &&
                (!found || times[d].end > times[*found].end))
                found = d;
        return found;
    }

    /// The last point inside a slice: at its very end, viewers would pick the next one.
    static std::uint64_t last_moment(const OperationTimes& times) {
        constexpr std::uint64_t kNanosecond = 1000;
        return std::max(
            times.start.count(), times.end.count() - std::min(times.end.count(), kNanosecond));
    }

    /// From the start of a step's first operation to that of the next step.
    void
    add_steps(std::uint32_t pid, const RankGraph& rank, const std::vector<OperationTimes>& times) {
        std::map<std::uint32_t, std::uint64_t> starts;
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            if (rank.streams[operation.stream].kind != StreamKind::kGpu)
                continue;
            const std::uint64_t start = times[i].start.count();
            auto [at, fresh] = starts.try_emplace(operation.step, start);
            if (!fresh)
                at->second = std::min(at->second, start);
            end = std::max(end, times[i].end.count());
        }
        for (auto at = starts.begin(); at != starts.end(); ++at) {
            const auto next = std::next(at);
            writer_.add_annotation(
                pid, static_cast<std::uint32_t>(rank.streams.size()), "steps",
                fmt::format("ProfilerStep#{}", at->first), at->second,
                next == starts.end() ? end : next->second);
        }
    }

    /// Passes go on a track below the steps, concurrent ones on another: slices of a track must not
    /// overlap.
    void
    add_passes(std::uint32_t pid, const RankGraph& rank, const std::vector<OperationTimes>& times) {
        std::vector<const Span*> spans;
        for (const Span& span : rank.spans)
            spans.push_back(&span);
        std::stable_sort(spans.begin(), spans.end(), [&](const Span* a, const Span* b) {
            return times[a->first].start < times[b->first].start;
        });
        std::vector<Time> ends;  // by track
        for (const Span* span : spans) {
            const Time start = times[span->first].start;
            const auto free = std::find_if(
                ends.begin(), ends.end(), [&](const Time& end) { return end <= start; });
            const auto track = static_cast<std::uint32_t>(free - ends.begin());
            if (free == ends.end())
                ends.emplace_back();
            ends[track] = times[span->last].end;
            writer_.add_annotation(
                pid, static_cast<std::uint32_t>(rank.streams.size()) + 1 + track,
                track == 0 ? "passes" : fmt::format("passes beside {}", track),
                graph_.names[span->name], start.count(), times[span->last].end.count());
        }
    }

    /// Reductions in switches, one track per group, taken from rank 0's collectives.
    void add_switches(std::uint32_t rank_pid) {
        std::map<std::pair<std::uint32_t, std::uint64_t>, const CollectiveRecord*> reduced;
        for (const CollectiveRecord& record : outcome_.collectives)
            if (reduces_in_switch(record.choice.algorithm) && record.fallback == Fallback::kNone)
                reduced[{record.group, record.sequence}] = &record;
        if (reduced.empty())
            return;
        const std::uint32_t pid = writer_.add_others(scenario_, "switches");
        const RankGraph& rank = *graph_.ranks.front();
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
            if (collective == nullptr)
                continue;
            const auto found = reduced.find({collective->group, collective->sequence});
            if (found == reduced.end())
                continue;
            const CollectiveRecord& record = *found->second;
            writer_.add_span(
                pid, record.group, fmt::format("group {}", graph_.groups[record.group].name),
                fmt::format("{} {}", to_string(record.kind), to_string(record.bytes)),
                record.ready.count(), record.end.count());
            if (record.end > record.ready)
                writer_.add_flow(
                    {rank_pid, operation.stream, outcome_.times.front()[i].start.count()},
                    {pid, record.group, record.ready.count()});
        }
    }

    TimelineWriter& writer_;
    const std::string& scenario_;
    const ExecutionGraph& graph_;
    const Outcome& outcome_;
};

}  // namespace

void add_to_timeline(
    TimelineWriter& writer, const std::string& scenario, const ExecutionGraph& graph,
    const Outcome& outcome) {
    ScenarioTimeline(writer, scenario, graph, outcome).add();
}

}  // namespace switchfold

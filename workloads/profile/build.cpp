// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/text.h"
#include "workloads/graph/clock_noise.h"
#include "workloads/profile/classify.h"
#include "workloads/profile/communication_bodies.h"
#include "workloads/profile/gpu_memory.h"
#include "workloads/profile/host_pace.h"
#include "workloads/profile/intervals.h"
#include "workloads/profile/missing_calls.h"
#include "workloads/profile/raw_trace.h"
#include "workloads/profile/stream_order.h"
#include "workloads/profile/stream_priority.h"
#include "workloads/profile/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

class RankBuilder {
public:
    RankBuilder(RawTrace& raw, NameTable& names, ExecutionGraph& graph) :
        raw_(raw),
        names_(names),
        communication_(raw, graph),
        order_(raw),
        streams_(raw.streams.size()) {
        built_.graph = std::make_shared<RankGraph>();
        built_.graph->streams.push_back({StreamKind::kHost, "host", 0});
        host_name_ = names_.intern("host");
        const auto peak = raw.report.memory_bandwidth > 0
                              ? std::optional(raw.report.memory_bandwidth)
                              : peak_bandwidth(raw.report.gpu_name, raw.report.memory_bytes);
        constexpr double kCautious = 1e12;  // below that of any listed GPU that trains today
        peak_ = peak.value_or(kCautious);
        if (!peak)
            raw.report.warnings.push_back(fmt::format(
                "{}: kernels' default bytes assume 1 TB/s",
                raw.report.gpu_name.empty()
                    ? "the trace names no GPU"
                    : fmt::format("GPU \"{}\" is unknown", raw.report.gpu_name)));
    }

    BuiltRank build() {
        raw_.report.host = host_pace(raw_);
        if (const std::uint64_t found = find_missing_calls(raw_))
            raw_.report.warnings.push_back(fmt::format(
                "the trace lacks the calls of {} collective{}: taken as those that other steps "
                "have "
                "in their place",
                found, found == 1 ? "" : "s"));
        find_priorities();
        origin_ = raw_.gpu.front().launch;
        for (const RawGpuEvent& gpu : raw_.gpu.pass())
            origin_ = std::min(origin_, gpu.launch);
        begin_with_the_step();
        host_time_ = origin_;
        std::size_t sync = 0;
        for (std::size_t i = 0; i < raw_.gpu.size(); ++i) {
            raw_.gpu.forget_at(i);
            while (sync < raw_.syncs.size() && raw_.syncs[sync].start < raw_.gpu[i].launch) {
                raw_.syncs.forget_at(sync);
                add_sync(raw_.syncs[sync], i);
                ++sync;
            }
            add_gpu(i);
        }
        set_isolated_durations(raw_, *built_.graph, operation_of_);
        set_traffic(raw_, *built_.graph, operation_of_, peak_);
        TraceFileReport& report = raw_.report;
        report.steps = static_cast<std::uint32_t>(std::max<std::size_t>(1, raw_.steps.size()));
        std::uint64_t end = 0;
        for (const std::uint64_t one : scheduled_ends_.pass())
            end = std::max(end, one);
        built_.iteration = Time((end - origin_) / report.steps);
        warn_of_idle_time(end - origin_);
        communication_.tell(report.warnings);
        count_operations(*built_.graph, report);
        return std::move(built_);
    }

private:
    struct OnStream {
        std::uint32_t index = 0;         ///< in the graph; 0 (the host's): not created yet
        std::uint64_t measured_end = 0;  ///< of the operation launched last
        std::uint64_t scheduled_end = 0;
        std::uint32_t last = UINT32_MAX;         ///< the operation launched last
        std::vector<std::uint32_t> beside_last;  ///< other messages of the same call
    };

    /// Properties shared by all events of a task.
    struct Kind {
        std::uint32_t name = 0;  ///< in the graph
        KernelClass kernel = KernelClass::kOther;
        CopyKind copy = CopyKind::kDeviceToDevice;
    };

    /// What the host does before its first launch, such as waiting for data, is of the step, if the
    /// GPU had nothing left to do.
    void begin_with_the_step() {
        if (raw_.steps.empty() || !raw_.steps.front().marked)
            return;
        std::uint64_t idle = raw_.steps.front().start;
        for (const auto& [stream, end] : raw_.busy_before)
            idle = std::max(idle, end);
        origin_ = std::min(origin_, idle);
    }

    [[nodiscard]] std::uint64_t end_of(std::size_t raw) const { return raw_.gpu[raw].end(); }

    /// End of an operation if everything takes as long as in the trace, which equals its measured
    /// end but for clock noise. Gaps are counted from here, so that noise does not accumulate along
    /// the trace.
    [[nodiscard]] std::uint64_t scheduled_end(std::uint32_t operation) const {
        return scheduled_ends_[operation];
    }

    std::uint32_t add(Operation operation, Interval scheduled, Interval measured) {
        auto& operations = built_.graph->operations;
        operations.push_back(std::move(operation));
        built_.measured.push_back(
            {Time(measured.start - std::min(origin_, measured.start)),
             Time(measured.end - std::min(origin_, measured.end))});
        scheduled_ends_.push_back(scheduled.end);
        return static_cast<std::uint32_t>(operations.size() - 1);
    }

    /// Advances the host to `time`; if the GPU operation `waits_for` is given, the host waits for
    /// it.
    void host_until(std::uint64_t time, std::size_t waits_for = SIZE_MAX) {
        if (time <= host_time_ && waits_for == SIZE_MAX && host_last_ != UINT32_MAX)
            return;
        Operation host;
        host.name = host_name_;
        host.stream = 0;
        host.step = step_of(time);
        std::uint64_t from = host_time_;
        if (waits_for != SIZE_MAX) {
            host.dependencies.push_back(operation_of_[waits_for]);
            from = std::max(from, scheduled_end(operation_of_[waits_for]));
        }
        const std::uint64_t end = std::max(time, from);
        host.body = HostDelayOperation{Time(end - from)};
        host_last_ = add(std::move(host), {from, end}, {origin_, origin_});
        host_time_ = end;
    }

    void add_sync(const Interval& call, std::size_t next) {
        // Another thread launched work meanwhile, so the GPU's work did not wait for this call.
        if (next < raw_.gpu.size() && raw_.gpu[next].launch < call.end)
            return;
        constexpr std::size_t kLookBack = 4096;
        std::size_t found = SIZE_MAX;
        for (std::size_t i = next; i-- > 0 && next - i < kLookBack;)
            if (end_of(i) > call.start && end_of(i) <= call.end + kClockNoise.count() &&
                (found == SIZE_MAX || end_of(i) > end_of(found)))
                found = i;
        host_until(call.start);
        host_until(call.end, found);
    }

    void find_priorities() {
        overtaking_ = count_overtaking(raw_);
        for (std::size_t i = 0; i < overtaking_.size(); ++i)
            if (overtaking_[i] >= kFewestOvertaking)
                raw_.report.warnings.push_back(fmt::format(
                    "{} communication kernels of stream {} began while kernels that had begun "
                    "before still had blocks to place: the stream is taken as of higher priority "
                    "than compute",
                    overtaking_[i], raw_.texts[raw_.streams[i].name]));
    }

    OnStream& stream_of(const RawGpuEvent& gpu) {
        OnStream& stream = streams_[gpu.stream];
        if (stream.index == 0) {
            stream.index = static_cast<std::uint32_t>(built_.graph->streams.size());
            const auto busy = raw_.busy_before.find(gpu.stream);
            stream.measured_end = busy == raw_.busy_before.end() ? 0 : busy->second;
            const std::string name(raw_.texts[raw_.streams[gpu.stream].name]);
            const std::int32_t priority = overtaking_[gpu.stream] >= kFewestOvertaking ? -1 : 0;
            built_.graph->streams.push_back({StreamKind::kGpu, name, priority});
        }
        return stream;
    }

    [[nodiscard]] std::uint32_t step_of(std::uint64_t launch) const {
        const auto after = std::upper_bound(
            raw_.steps.begin(), raw_.steps.end(), launch,
            [](std::uint64_t t, const RawStep& step) { return t < step.start; });
        const auto begun = static_cast<std::uint32_t>(after - raw_.steps.begin());
        return begun == 0 ? 0 : begun - 1;
    }

    [[nodiscard]] Phase phase_of(std::uint64_t launch, bool of_forward) const {
        if (covers(raw_.optimizer, launch))
            return Phase::kOptimizer;
        if (covers(raw_.backward, launch))
            return Phase::kBackward;
        if (covers(raw_.forward, launch))
            return Phase::kForward;
        if (!raw_.forward.empty() || raw_.backward.empty())
            return Phase::kOther;
        if (of_forward)
            return Phase::kForward;
        // Without forward marks, the forward pass is what a step does before its first gradient.
        const auto next = std::upper_bound(
            raw_.backward.begin(), raw_.backward.end(), launch,
            [](std::uint64_t t, const Interval& i) { return t < i.start; });
        if (next == raw_.backward.end())
            return Phase::kOther;
        const bool same_step = step_of(next->start) == step_of(launch);
        const bool after_gradients =
            next != raw_.backward.begin() && step_of(std::prev(next)->start) == step_of(launch);
        return same_step && !after_gradients ? Phase::kForward : Phase::kOther;
    }

    void add_gpu(std::size_t index) {
        const RawGpuEvent& gpu = raw_.gpu[index];
        const Kind& kind = kind_of(gpu);
        host_until(gpu.launch);
        OnStream& own = stream_of(gpu);
        Operation operation;
        operation.name = kind.name;
        operation.stream = own.index;
        operation.step = step_of(gpu.launch);
        operation.phase = phase_of(gpu.launch, gpu.of_forward);
        operation.dependencies.push_back(host_last_);
        std::uint64_t measured_ready = std::max(gpu.launch, own.measured_end);
        std::uint64_t scheduled_ready = std::max(host_time_, own.scheduled_end);
        // What ran beside the last operation of the stream, for the same call, ends before this
        // one.
        for (const std::uint32_t beside : std::exchange(own.beside_last, {}))
            operation.dependencies.push_back(beside);
        for (const std::size_t before : order_.add(index)) {
            depend_on(before, operation);
            measured_ready = std::max(measured_ready, end_of(before));
            scheduled_ready = std::max(scheduled_ready, scheduled_end(operation_of_[before]));
        }
        // If the schedule lags behind the measurement, the gap shrinks to catch up. If it is ahead,
        // the gap stays: work from before the trace delayed the real run.
        const std::uint64_t start = gpu.start;
        const std::uint64_t gap = std::min(
            start - std::min(start, measured_ready), start - std::min(start, scheduled_ready));
        operation.gap = Time(gap);
        const Interval scheduled{scheduled_ready + gap, scheduled_ready + gap + gpu.duration};
        const std::vector<RawMessage> messages = communication_.messages_of(gpu);
        set_body(gpu, kind, messages, operation);
        const Operation first = operation;
        operation_of_.push_back(add(std::move(operation), scheduled, {start, end_of(index)}));
        add_beside(gpu, first, messages, scheduled, {start, end_of(index)});
        own.measured_end = end_of(index);
        own.scheduled_end = scheduled.end;
        // A copy whose call returned only after the GPU had finished blocked the host.
        if (gpu.work == GpuWork::kCopy && gpu.has_launch && gpu.launch_end >= end_of(index) &&
            (index + 1 == raw_.gpu.size() || raw_.gpu[index + 1].launch >= gpu.launch_end))
            host_until(gpu.launch_end, index);
    }

    /// Messages of a call move at the same time: those after the first run on streams of their own,
    /// beside the call's.
    void add_beside(
        const RawGpuEvent& gpu, const Operation& first, const std::vector<RawMessage>& messages,
        Interval scheduled, Interval measured) {
        for (std::size_t i = 1; i < messages.size(); ++i) {
            Operation beside = first;
            beside.stream = stream_beside(gpu.stream, i);
            beside.body = communication_.message_body(gpu, messages[i]);
            // A stream of its own knows nothing of what ran on the call's stream before.
            if (const std::uint32_t last = streams_[gpu.stream].last; last != UINT32_MAX)
                beside.dependencies.push_back(last);
            const std::uint32_t operation = add(std::move(beside), scheduled, measured);
            streams_[gpu.stream].beside_last.push_back(operation);
            beside_[operation_of_.size() - 1].push_back(operation);
        }
        streams_[gpu.stream].last = operation_of_.back();
    }

    std::uint32_t stream_beside(std::uint32_t stream, std::size_t number) {
        const auto [at, fresh] = streams_beside_.try_emplace(
            std::pair(stream, number), static_cast<std::uint32_t>(built_.graph->streams.size()));
        if (fresh)
            built_.graph->streams.push_back(
                {StreamKind::kGpu,
                 fmt::format("{} beside {}", raw_.texts[raw_.streams[stream].name], number), 0});
        return at->second;
    }

    void depend_on(std::size_t raw, Operation& operation) const {
        operation.dependencies.push_back(operation_of_[raw]);
        if (const auto beside = beside_.find(raw); beside != beside_.end())
            for (const std::uint32_t other : beside->second)
                operation.dependencies.push_back(other);
    }

    void set_body(
        const RawGpuEvent& gpu, const Kind& kind, const std::vector<RawMessage>& messages,
        Operation& operation) {
        if (gpu.work == GpuWork::kCopy) {
            operation.body = CopyOperation{kind.copy, Bytes(gpu.bytes), Time(gpu.duration)};
            return;
        }
        if (gpu.work == GpuWork::kCommunication) {
            operation.body = communication_.body_of(gpu, messages);
            return;
        }
        const GpuTask& task = raw_.tasks[gpu.task];
        KernelOperation kernel;
        kernel.grid = task.grid == kUnknownShape ? Dim3{} : task.grid;
        kernel.block = task.block == kUnknownShape ? Dim3{256, 1, 1} : task.block;
        kernel.registers_per_thread = task.registers_per_thread;
        kernel.shared_memory = Bytes(task.shared_memory);
        kernel.kernel_class = kind.kernel;
        kernel.inside_cuda_graph = gpu.inside_graph;
        operation.body = kernel;
    }

    /// Properties that follow from a task's name; few names stand for many events.
    const Kind& kind_of(const RawGpuEvent& gpu) {
        kinds_.resize(raw_.tasks.size());
        std::optional<Kind>& kind = kinds_[gpu.task];
        if (!kind) {
            const std::string_view name = raw_.name_of(gpu);
            kind = Kind{names_.intern(name), classify_kernel(name), classify_copy(name)};
        }
        return *kind;
    }

    /// Warns if idle time that nothing in the trace explains is significant: it is replayed
    /// unchanged on any machine.
    void warn_of_idle_time(std::uint64_t whole) {
        std::uint64_t idle = 0;
        for (const Operation& operation : built_.graph->operations.pass())
            if (operation.gap > microseconds(20))  // below: launch latency
                idle += operation.gap.count();
        if (idle > whole / 10)
            raw_.report.warnings.push_back(fmt::format(
                "streams waited {:.1f} ms for what the trace does not show: replayed as fixed "
                "pauses",
                to_microseconds(Time(idle)) / 1000));
    }

    RawTrace& raw_;
    NameTable& names_;
    CommunicationBodies communication_;
    BuiltRank built_;
    double peak_ = 0;
    std::uint32_t host_name_ = 0;
    std::uint32_t host_last_ = UINT32_MAX;
    std::uint64_t origin_ = 0;
    std::uint64_t host_time_ = 0;
    StreamOrder order_;
    std::vector<std::optional<Kind>> kinds_;  ///< by task
    std::vector<OnStream> streams_;           ///< as RawTrace::streams
    std::vector<std::uint32_t> overtaking_;   ///< as RawTrace::streams
    BigVector<std::uint32_t> operation_of_;   ///< by raw index; of several messages the first
    std::map<std::size_t, std::vector<std::uint32_t>> beside_;  ///< the others, by raw index
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> streams_beside_;
    BigVector<std::uint64_t> scheduled_ends_;  ///< by operation, ps on the trace's clock
};

}  // namespace

BuiltRank build_rank(RawTrace& raw, NameTable& names, ExecutionGraph& graph) {
    return RankBuilder(raw, names, graph).build();
}

TraceWorkload workload_of(RawTrace raw) {
    TraceWorkload workload;
    NameTable names;
    ExecutionGraph& graph = workload.graph;
    BuiltRank built = build_rank(raw, names, graph);
    TraceFileReport& report = workload.files.emplace_back(std::move(raw.report));
    const auto operations = built.graph->operations.pass();
    bool has_messages = false;
    for (const Operation& operation : operations)
        has_messages = has_messages || std::holds_alternative<SendOperation>(operation.body) ||
                       std::holds_alternative<ReceiveOperation>(operation.body);
    if (report.world_size > 1 && report.collectives == 0 && !has_messages)
        report.warnings.emplace_back("holds no collective: nothing runs beside its kernels");
    graph.ranks.push_back(std::move(built.graph));
    workload.measured.push_back(std::move(built.measured));
    graph.names = names.take();
    graph.steps = report.steps;
    graph.provenance = {report.file, report.gpu_name,   report.synthetic,
                        1,           report.world_size, built.iteration};
    return workload;
}

}  // namespace switchfold

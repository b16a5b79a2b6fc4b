// SPDX-License-Identifier: Apache-2.0
#include "sim/core/error.h"
#include "workloads/kineto/classify.h"
#include "workloads/kineto/collective_operation.h"
#include "workloads/kineto/raw_trace.h"
#include "workloads/kineto/stream_order.h"
#include "workloads/kineto/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace switchfold {

namespace {

// A blocking call may come back a little before the GPU's clock says that the work ended.
constexpr std::uint64_t kClockNoise = 2'000'000;
// Of all groups together: more than 1,000 groups in each of 16 dimensions of a run of 1,000 ranks.
constexpr std::uint64_t kMostMembers = 16'000'000;

class RankBuilder {
public:
    RankBuilder(RawTrace& raw, NameTable& names, std::vector<Group>& groups) :
        raw_(raw), names_(names), groups_(groups), order_(raw) {
        built_.graph = std::make_shared<RankGraph>();
        built_.graph->streams.push_back({StreamKind::kHost, "host", 0});
        host_name_ = names_.intern("host");
        const auto peak = peak_bandwidth(raw.report.gpu_name, raw.report.memory_bytes);
        constexpr double kCautious = 1e12;  // less than any GPU of the table that trains today
        peak_ = peak.value_or(kCautious);
        if (!peak)
            raw.report.warnings.push_back(fmt::format(
                "GPU \"{}\" is unknown: kernels' default bytes assume 1 TB/s",
                raw.report.gpu_name));
    }

    BuiltRank build() {
        origin_ = raw_.gpu.front().launch;
        for (const RawGpuEvent& gpu : raw_.gpu)
            origin_ = std::min(origin_, gpu.launch);
        host_time_ = origin_;
        operation_of_.reserve(raw_.gpu.size());
        std::size_t sync = 0;
        for (std::size_t i = 0; i < raw_.gpu.size(); ++i) {
            while (sync < raw_.syncs.size() && raw_.syncs[sync].start < raw_.gpu[i].launch) {
                add_sync(raw_.syncs[sync], i);
                ++sync;
            }
            add_gpu(i);
        }
        set_isolated_durations(raw_, *built_.graph, operation_of_);
        set_traffic(raw_, *built_.graph, operation_of_, peak_);
        TraceFileReport& report = raw_.report;
        report.steps = static_cast<std::uint32_t>(std::max<std::size_t>(1, raw_.steps.size()));
        const std::uint64_t end = *std::max_element(scheduled_ends_.begin(), scheduled_ends_.end());
        built_.iteration = Time((end - origin_) / report.steps);
        warn_of_idle_time(end - origin_);
        if (unknown_communication_ > 0)
            report.warnings.push_back(fmt::format(
                "{} communication kernels of unknown kind are taken as plain kernels that move no "
                "bytes",
                unknown_communication_));
        count_operations(*built_.graph, report);
        return std::move(built_);
    }

private:
    struct OnStream {
        std::uint32_t index = 0;         ///< in the graph
        std::uint64_t measured_end = 0;  ///< of the operation launched last
        std::uint64_t scheduled_end = 0;
    };

    [[nodiscard]] std::uint64_t end_of(std::size_t raw) const {
        return raw_.gpu[raw].event.start + raw_.gpu[raw].event.duration;
    }

    /// When an operation ends if everything takes as long as it did in the trace: what its measured
    /// end should be, but for clock noise. Gaps count from here, so that noise does not add up
    /// along the trace.
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

    /// The host gets on to `time`, waiting for the GPU operation `raw` on the way if there is one.
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
        // Another thread went on launching meanwhile: then the machine's work did not wait for this
        // call.
        if (next < raw_.gpu.size() && raw_.gpu[next].launch < call.end)
            return;
        constexpr std::size_t kLookBack = 4096;
        std::size_t found = SIZE_MAX;
        for (std::size_t i = next; i-- > 0 && next - i < kLookBack;)
            if (end_of(i) > call.start && end_of(i) <= call.end + kClockNoise &&
                (found == SIZE_MAX || end_of(i) > end_of(found)))
                found = i;
        host_until(call.start);
        host_until(call.end, found);
    }

    OnStream& stream_of(const RawGpuEvent& gpu) {
        const auto [at, fresh] = streams_.try_emplace(gpu.event.stream);
        if (fresh) {
            at->second.index = static_cast<std::uint32_t>(built_.graph->streams.size());
            const auto busy = raw_.busy_before.find(gpu.event.stream);
            at->second.measured_end = busy == raw_.busy_before.end() ? 0 : busy->second;
            built_.graph->streams.push_back({StreamKind::kGpu, gpu.event.stream, 0});
        }
        return at->second;
    }

    [[nodiscard]] std::uint32_t step_of(std::uint64_t launch) const {
        const auto after = std::upper_bound(
            raw_.steps.begin(), raw_.steps.end(), launch, [](std::uint64_t t, const Interval& i) {
                return t < i.start;
            });
        const auto begun = static_cast<std::uint32_t>(after - raw_.steps.begin());
        return begun == 0 ? 0 : begun - 1;
    }

    [[nodiscard]] Phase phase_of(std::uint64_t launch) const {
        if (covers(raw_.optimizer, launch))
            return Phase::kOptimizer;
        if (covers(raw_.backward, launch))
            return Phase::kBackward;
        if (covers(raw_.forward, launch))
            return Phase::kForward;
        if (!raw_.forward.empty() || raw_.backward.empty())
            return Phase::kOther;
        // Without a mark of its own the forward pass is what a step does before its first gradient.
        const auto next = std::upper_bound(
            raw_.backward.begin(),
            raw_.backward.end(),
            launch,
            [](std::uint64_t t, const Interval& i) { return t < i.start; });
        if (next == raw_.backward.end())
            return Phase::kOther;
        const bool same_step = step_of(next->start) == step_of(launch);
        const bool after_gradients =
            next != raw_.backward.begin() && step_of(std::prev(next)->start) == step_of(launch);
        return same_step && !after_gradients ? Phase::kForward : Phase::kOther;
    }

    void add_gpu(std::size_t index) {
        RawGpuEvent& gpu = raw_.gpu[index];
        host_until(gpu.launch);
        OnStream& own = stream_of(gpu);
        Operation operation;
        operation.name = names_.intern(gpu.event.name);
        operation.stream = own.index;
        operation.step = step_of(gpu.launch);
        operation.phase = phase_of(gpu.launch);
        operation.dependencies.push_back(host_last_);
        std::uint64_t measured_ready = std::max(gpu.launch, own.measured_end);
        std::uint64_t scheduled_ready = std::max(host_time_, own.scheduled_end);
        for (const std::size_t before : order_.add(index)) {
            operation.dependencies.push_back(operation_of_[before]);
            measured_ready = std::max(measured_ready, end_of(before));
            scheduled_ready = std::max(scheduled_ready, scheduled_end(operation_of_[before]));
        }
        // Behind the measurement the gap shrinks to catch up; ahead of it there is nothing to make
        // up for: work from before the trace held up the real run.
        const std::uint64_t start = gpu.event.start;
        const std::uint64_t gap = std::min(
            start - std::min(start, measured_ready), start - std::min(start, scheduled_ready));
        operation.gap = Time(gap);
        const Interval scheduled{scheduled_ready + gap, scheduled_ready + gap + gpu.event.duration};
        set_body(gpu, operation);
        operation_of_.push_back(add(std::move(operation), scheduled, {start, end_of(index)}));
        own.measured_end = end_of(index);
        own.scheduled_end = scheduled.end;
        // A copy whose call came back only when the GPU was done held up the host.
        if (gpu.work == GpuWork::kCopy && gpu.has_launch && gpu.launch_end >= end_of(index) &&
            (index + 1 == raw_.gpu.size() || raw_.gpu[index + 1].launch >= gpu.launch_end))
            host_until(gpu.launch_end, index);
    }

    void set_body(const RawGpuEvent& gpu, Operation& operation) {
        const TraceEvent& e = gpu.event;
        if (gpu.work == GpuWork::kCopy) {
            operation.body = CopyOperation{copy_kind(e), Bytes(e.bytes), Time(e.duration), 0};
            return;
        }
        if (gpu.work == GpuWork::kCommunication) {
            if (const auto kind = collective_kind(gpu)) {
                const std::uint32_t group = group_of(e);
                CollectiveOperation collective =
                    describe_collective(gpu, *kind, groups_[group].ranks.size());
                collective.group = group;
                collective.sequence = sequences_[group]++;
                operation.body = std::move(collective);
                return;
            }
            ++unknown_communication_;
        }
        KernelOperation kernel;
        kernel.grid = e.grid.value_or(Dim3{});
        kernel.block = e.block.value_or(Dim3{256, 1, 1});
        kernel.registers_per_thread = e.registers_per_thread;
        kernel.shared_memory = Bytes(e.shared_memory);
        kernel.kernel_class = class_of(operation.name, e.name);
        operation.body = kernel;
    }

    /// Few names stand for many kernels.
    KernelClass class_of(std::uint32_t name, const std::string& text) {
        const auto [at, fresh] = classes_.try_emplace(name, KernelClass::kOther);
        if (fresh)
            at->second = classify_kernel(text);
        return at->second;
    }

    static CopyKind copy_kind(const TraceEvent& event) {
        const auto has = [&](std::string_view word) {
            return event.name.find(word) != std::string::npos;
        };
        if (has("emset"))
            return CopyKind::kMemset;
        if (has("HtoD") || has("HostToDevice"))
            return CopyKind::kHostToDevice;
        if (has("DtoH") || has("DeviceToHost"))
            return CopyKind::kDeviceToHost;
        return CopyKind::kDeviceToDevice;
    }

    std::uint32_t group_of(const TraceEvent& event) {
        const std::vector<std::uint32_t> ranks =
            group_ranks(event, raw_.report.rank, raw_.report.world_size);
        const std::string name = event.group_name.empty() ? "world" : event.group_name;
        for (std::uint32_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].name == name && groups_[g].ranks == ranks)
                return g;
        members_ += ranks.size();
        if (members_ > kMostMembers)
            throw ConfigError(
                raw_.report.file,
                "",
                fmt::format(
                    "has {} process groups of up to {} ranks; expected fewer",
                    groups_.size() + 1,
                    ranks.size()));
        groups_.push_back({name, ranks});
        return static_cast<std::uint32_t>(groups_.size() - 1);
    }

    /// Idle time that nothing in the trace explains is replayed as it was, whatever the machine:
    /// worth saying if it is much.
    void warn_of_idle_time(std::uint64_t whole) {
        std::uint64_t idle = 0;
        for (const Operation& operation : built_.graph->operations)
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
    std::vector<Group>& groups_;
    BuiltRank built_;
    double peak_ = 0;
    std::uint32_t host_name_ = 0;
    std::uint32_t host_last_ = UINT32_MAX;
    std::uint64_t origin_ = 0;
    std::uint64_t host_time_ = 0;
    std::uint64_t unknown_communication_ = 0;
    std::uint64_t members_ = 0;
    StreamOrder order_;
    std::map<std::uint32_t, KernelClass> classes_;  ///< by name
    std::map<std::string, OnStream> streams_;
    std::map<std::uint32_t, std::uint64_t> sequences_;
    std::vector<std::uint32_t> operation_of_;    ///< by raw index
    std::vector<std::uint64_t> scheduled_ends_;  ///< by operation, ps of the trace's clock
};

}  // namespace

BuiltRank build_rank(RawTrace& raw, NameTable& names, std::vector<Group>& groups) {
    return RankBuilder(raw, names, groups).build();
}

}  // namespace switchfold

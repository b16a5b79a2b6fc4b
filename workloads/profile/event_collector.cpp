// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/event_collector.h"

#include "core/big_sort.h"
#include "core/error.h"
#include "core/text.h"
#include "workloads/profile/find_steps.h"
#include "workloads/profile/impossible_times.h"
#include "workloads/profile/kernel_traffic.h"
#include "workloads/profile/kernels_of_calls.h"
#include "workloads/profile/launching.h"
#include "workloads/profile/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace switchfold {

namespace {

bool by_start(const Interval& a, const Interval& b) {
    return a.start < b.start;
}

std::uint32_t rank_of(const std::optional<std::uint64_t>& rank) {
    return rank && *rank < kNoRank ? static_cast<std::uint32_t>(*rank) : kNoRank;
}

/// 7 of "ProfilerStep#7"; -1 if there is no number.
std::int64_t number_of(std::string_view mark) {
    const std::size_t at = mark.find('#');
    std::int64_t number = -1;
    if (at != std::string_view::npos)
        std::from_chars(mark.data() + at + 1, mark.data() + mark.size(), number);
    return number;
}

}  // namespace

void EventCollector::add(const TraceEvent& event) {
    if (event.phase == "i" && event.name == kAllocatorEvent) {
        add_memory(event);
        return;
    }
    if (event.phase != "X") {
        dropped_.add(
            event.phase == "M" ? "metadata"
            : event.phase == "s" || event.phase == "f" || event.phase == "t"
                ? "flow arrows"
                : "instants and counters");
        return;
    }
    if (event.unusable != nullptr) {
        dropped_.add(event.unusable);
        return;
    }
    const EventKind kind = kind_of(event);
    if (kind == EventKind::kCall || kind == EventKind::kOperator) {
        on_host_.start = std::min(on_host_.start, event.start);
        on_host_.end = std::max(on_host_.end, event.start + event.duration);
    }
    switch (kind) {
    case EventKind::kKernel:
        add_gpu(
            event, meanings_.communicates(raw_.texts.add(event.name)) ? GpuWork::kCommunication
                                                                      : GpuWork::kKernel);
        break;
    case EventKind::kCopy:
        add_gpu(event, GpuWork::kCopy);
        break;
    case EventKind::kCall:
        add_call(event);
        break;
    case EventKind::kOperator:
        add_operator(event);
        break;
    case EventKind::kAnnotation:
        add_annotation(event);
        break;
    case EventKind::kMirrored:
        if (meanings_.mark(raw_.texts.add(event.name)) == PhaseMark::kStep)
            add_mirrored_step(event);
        dropped_.add("annotations mirrored on the GPU");
        break;
    case EventKind::kPython:
        dropped_.add("Python frames");
        break;
    case EventKind::kForeignCall:
        other_runtimes_.emplace(event.category);
        dropped_.add("calls of other runtimes than CUDA's and HIP's");
        break;
    case EventKind::kUnknown:
        dropped_.add("other categories");
        break;
    }
}

EventKind EventCollector::kind_of(const TraceEvent& event) {
    if (event.category.empty())
        return event.grid ? EventKind::kKernel : EventKind::kUnknown;
    return meanings_.category(raw_.texts.add(event.category));
}

/// Kernels arrive almost in launch order, so earlier entries are not needed again.
void EventCollector::forget_joined(std::size_t joined) const {
    correlations_.forget_at(joined);
    external_ids_.forget_at(joined);
    launches_.forget_at(joined);
}

void EventCollector::join_launches() {
    launches_.sort();
    std::size_t i = 0;
    for (RawGpuEvent& gpu : raw_.gpu.pass()) {
        forget_joined(i);
        gpu.launch = gpu.launch_end = gpu.start;
        std::uint64_t& external_id = external_ids_[i];
        const std::uint64_t correlation = correlations_[i++];
        const LaunchCall* const call = correlation == kNoId ? nullptr : launches_.join(correlation);
        if (call != nullptr) {
            gpu.has_launch = true;
            gpu.launch = call->start;
            gpu.launch_end = call->end;
            gpu.launch_thread = call->thread;
            gpu.of_graph = call->of_graph;
            if (external_id == kNoId)
                external_id = call->external_id;
            const GpuTask task = launches_.shaped(raw_.tasks[gpu.task], *call);
            if (task != raw_.tasks[gpu.task])
                gpu.task = raw_.tasks.add(task);
        }
        // Profilers before 2023 repeat the correlation id in this field.
        if (external_id == correlation)
            external_id = kNoId;
    }
    // Without any join the trace has no correlations: then nothing is known to be lost.
    const bool joins = std::any_of(
        raw_.gpu.begin(), raw_.gpu.end(), [](const RawGpuEvent& gpu) { return gpu.has_launch; });
    for (const std::uint64_t correlation : elsewhere_.pass())
        static_cast<void>(launches_.join(correlation));
    elsewhere_ = {};
    if (joins)
        raw_.lost_launches = launches_.lost();
    launches_ = {};
    correlations_ = {};
}

/// A step's mark on the GPU's timeline, one a stream.
void EventCollector::add_mirrored_step(const TraceEvent& event) {
    const std::uint64_t end = event.start + event.duration;
    const std::int64_t number = number_of(event.name);
    const auto [at, fresh] = mirrored_steps_.try_emplace(number, RawStep{event.start, end, number});
    at->second.start = std::min(at->second.start, event.start);
    at->second.end = std::max(at->second.end, end);
}

/// Without marks and calls of the host, those on the GPU's timeline tell its steps.
void EventCollector::take_mirrored_steps() {
    if (!raw_.steps.empty() || mirrored_steps_.empty())
        return;
    if (std::none_of(raw_.gpu.begin(), raw_.gpu.end(), [](const RawGpuEvent& gpu) {
            return gpu.has_launch;
        }))
        for (const auto& [number, step] : mirrored_steps_)
            raw_.steps.push_back(step);
}

void EventCollector::finish() {
    take_memory();
    join_launches();
    sort_streams();
    find_launching_operators(raw_, operators_, external_ids_);
    find_messages(raw_, operators_);
    mark_forward();
    operators_ = {};
    external_ids_ = {};
    drop_impossible_times(raw_, on_host_);
    for (const RawGpuEvent& gpu : raw_.gpu.pass())
        if (gpu.work == GpuWork::kCommunication)
            raw_.communication.push_back({gpu.start, gpu.end()});
    merge_intervals(raw_.communication);
    order_launches(raw_);
    join_kernels_of_calls(raw_);
    std::uint64_t without_launch = 0;
    for (const RawGpuEvent& gpu : raw_.gpu.pass())
        without_launch += gpu.has_launch ? 0 : 1;
    if (without_launch > 0)
        raw_.report.warnings.push_back(fmt::format(
            "{} GPU operations have no launching call (CUDA graphs, cut traces): taken as "
            "launched just before the next of their stream",
            without_launch));
    big_sort(raw_.syncs, by_start);
    take_mirrored_steps();
    std::sort(raw_.steps.begin(), raw_.steps.end(), [](const RawStep& a, const RawStep& b) {
        return a.start < b.start;
    });
    std::sort(raw_.updates.begin(), raw_.updates.end(), [](const RawUpdate& a, const RawUpdate& b) {
        return a.start < b.start;
    });
    for (auto* intervals : {&raw_.forward, &raw_.backward, &raw_.optimizer})
        merge_intervals(*intervals);
    check_kernels();
    keep_steps(raw_, find_steps(raw_, only_steps_));
    count_events();
    check_kernels();
}

/// Work of the forward pass: an operator of the backward pass states the number of the operator
/// that launched it.
void EventCollector::mark_forward() {
    if (differentiated_.empty())
        return;
    std::size_t i = 0;
    for (RawGpuEvent& gpu : raw_.gpu.pass()) {
        raw_.gpu.forget_at(i++);
        if (gpu.call == RawGpuEvent::kNone)
            continue;
        const std::uint32_t sequence = operators_[gpu.call].sequence;
        gpu.of_forward = sequence != 0 && differentiated_.contains(sequence);
    }
}

void EventCollector::count_events() {
    std::uint64_t between = 0;
    std::uint64_t bytes = 0;
    for (const RawGpuEvent& gpu : raw_.gpu.pass()) {
        if (gpu.work == GpuWork::kCopy && is_between_gpus(raw_.name_of(gpu))) {
            ++between;
            bytes += gpu.bytes;
        }
        used_.add(
            gpu.work == GpuWork::kCopy            ? "copies"
            : gpu.work == GpuWork::kCommunication ? "communication kernels"
                                                  : "kernels");
    }
    if (between > 0)
        raw_.report.warnings.push_back(fmt::format(
            "{} cop{} between GPUs ({}) keep{} the traced time on any machine: no trace says which "
            "GPU they reach, so they load no link and are no communication in any figure",
            between, between == 1 ? "y" : "ies", to_string(Bytes(bytes)), between == 1 ? "s" : ""));
    used_.move_to(raw_.report.used);
    dropped_.move_to(raw_.report.dropped);
}

void EventCollector::add_gpu(const TraceEvent& event, GpuWork work) {
    if (work != GpuWork::kCopy)
        ++kernels_by_device_[event.device.value_or(0)];
    if (only_device_ && event.device.value_or(0) != *only_device_) {
        if (event.correlation)
            elsewhere_.push_back(*event.correlation);
        return;
    }
    if (event.without_time) {
        dropped_.add("GPU operations without a time");
        return;
    }
    RawGpuEvent gpu;
    gpu.work = work;
    gpu.start = event.start;
    gpu.duration = event.duration;
    gpu.bytes = event.bytes;
    gpu.task = raw_.tasks.add(
        {raw_.texts.add(event.name), event.registers_per_thread, event.grid.value_or(kUnknownShape),
         event.block.value_or(kUnknownShape), event.shared_memory});
    gpu.stream = stream_of(event);
    gpu.details = details_of(event, work);
    raw_.gpu.push_back(gpu);
    correlations_.push_back(event.correlation.value_or(kNoId));
    external_ids_.push_back(event.external_id.value_or(kNoId));
}

std::uint32_t EventCollector::details_of(const TraceEvent& event, GpuWork work) {
    if (work == GpuWork::kKernel && event.counted_read && event.counted_written) {
        raw_.counted.push_back({*event.counted_read, *event.counted_written});
        return static_cast<std::uint32_t>(raw_.counted.size() - 1);
    }
    if (work != GpuWork::kCommunication)
        return RawGpuEvent::kNone;
    CollectiveDetails details;
    details.name = raw_.texts.add(event.collective_name);
    details.datatype = raw_.texts.add(event.datatype);
    details.group_name = raw_.texts.add(event.group_name);
    details.group_ranks = raw_.texts.add(event.group_ranks);
    details.algorithm = raw_.texts.add(event.algorithm);
    details.protocol = raw_.texts.add(event.protocol);
    details.in_elements = event.in_elements;
    details.out_elements = event.out_elements;
    details.group_size = event.group_size;
    details.in_splits = raw_.texts.add(event.in_splits);
    details.out_splits = raw_.texts.add(event.out_splits);
    details.to_rank = rank_of(event.to_rank);
    details.from_rank = rank_of(event.from_rank);
    raw_.collectives.push_back(details);
    return static_cast<std::uint32_t>(raw_.collectives.size() - 1);
}

/// Streams of the trace's first device keep their names from the trace.
std::uint32_t EventCollector::stream_of(const TraceEvent& event) {
    if (!device_)
        device_ = event.device;
    const std::string_view text = event.stream.empty() ? event.thread : event.stream;
    const std::uint32_t key = stream_keys_.add(
        {event.device.value_or(0), event.device.has_value(), raw_.texts.add(text)});
    if (key < streams_.size())
        return streams_[key];
    const StringInterner::Id name =
        event.device && event.device != device_
            ? raw_.texts.add(fmt::format("device {} stream {}", *event.device, text))
            : raw_.texts.add(text);
    const auto same =
        std::find_if(raw_.streams.begin(), raw_.streams.end(), [name](const RawStream& stream) {
            return stream.name == name;
        });
    // Dependencies are searched for on all streams.
    constexpr std::size_t kMostStreams = 4096;
    if (raw_.streams.size() == kMostStreams)
        throw ConfigError(
            raw_.report.file, "",
            fmt::format("has more than {} GPU streams; expected fewer", kMostStreams));
    streams_.push_back(static_cast<std::uint32_t>(same - raw_.streams.begin()));
    if (same == raw_.streams.end())
        raw_.streams.push_back({name, event.device.value_or(0)});
    return streams_[key];
}

/// Orders streams by name, so that results do not depend on which stream the trace shows first.
void EventCollector::sort_streams() {
    std::vector<std::uint32_t> order(raw_.streams.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
        return raw_.texts[raw_.streams[a].name] < raw_.texts[raw_.streams[b].name];
    });
    std::vector<std::uint32_t> place(order.size());
    std::vector<RawStream> sorted;
    for (const std::uint32_t stream : order) {
        place[stream] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(raw_.streams[stream]);
    }
    raw_.streams = std::move(sorted);
    for (RawGpuEvent& gpu : raw_.gpu.pass())
        gpu.stream = place[gpu.stream];
}

std::uint32_t EventCollector::thread_of(const TraceEvent& event) {
    return threads_
        .try_emplace(raw_.texts.add(event.thread), static_cast<std::uint32_t>(threads_.size()))
        .first->second;
}

void EventCollector::add_memory(const TraceEvent& event) {
    if (event.device_type.value_or(0) == 0) {
        dropped_.add("the host's allocations");
        return;
    }
    used_.add("allocations");
    auto& [allocated, reserved] = memory_by_device_[event.device.value_or(0)];
    allocated = std::max(allocated, event.allocated);
    reserved = std::max(reserved, event.reserved);
}

/// The allocator's peaks on the GPU of the kernels. What exceeds its memory cannot be.
void EventCollector::take_memory() {
    const std::uint64_t own =
        only_device_.value_or(kernels_by_device_.empty() ? 0 : kernels_by_device_.begin()->first);
    const auto found = memory_by_device_.find(own);
    if (found == memory_by_device_.end())
        return;
    const auto& [allocated, reserved] = found->second;
    TraceFileReport& report = raw_.report;
    if (report.memory_bytes > 0 && allocated > report.memory_bytes) {
        report.warnings.push_back(fmt::format(
            "the allocator states {} B handed out on a GPU of {} B: its numbers are not used",
            allocated, report.memory_bytes));
        return;
    }
    report.peak_allocated = allocated;
    report.peak_reserved = reserved;
}

void EventCollector::add_call(const TraceEvent& event) {
    used_.add("runtime calls");
    const std::uint32_t thread = thread_of(event);
    const CallKind kind = meanings_.call(raw_.texts.add(event.name));
    const bool launches_kernel = meanings_.launches_kernel(raw_.texts.add(event.name));
    if (launches_kernel && event.process != process_) {
        process_ = event.process;
        processes_.insert(process_);
    }
    launches_.add(event, thread, kind, launches_kernel);
    if (kind == CallKind::kStreamWait)
        raw_.waits.push_back({event.start, thread, false});
    if (kind == CallKind::kSynchronize)
        raw_.syncs.push_back({event.start, event.start + event.duration});
}

void EventCollector::add_operator(const TraceEvent& event) {
    used_.add("operators");
    const StringInterner::Id name = raw_.texts.add(event.name);
    mark_phase(event, name);
    keep_operator(event, name);
}

void EventCollector::add_annotation(const TraceEvent& event) {
    const bool collective = event.name.starts_with("nccl:");
    const StringInterner::Id name = raw_.texts.add(event.name);
    if (mark_phase(event, name))
        used_.add("annotations");
    else if (collective)
        used_.add("annotations of collectives");
    else
        dropped_.add("annotations that name no phase");
    // Other annotations span whole phases and would hide the operator that launched a kernel.
    if (collective)
        keep_operator(event, name);
}

void EventCollector::keep_operator(const TraceEvent& event, StringInterner::Id name) {
    const bool convolution = !event.concrete_inputs.empty() && contains(event.name, "conv");
    OperatorKind kind;
    kind.name = name;
    kind.input_dims = raw_.texts.add(event.input_dims);
    kind.input_types = raw_.texts.add(event.input_types);
    kind.stride = static_cast<std::uint32_t>(
        convolution ? parse_stride(event.name, event.concrete_inputs) : 1);
    kind.group_name = raw_.texts.add(event.group_name);
    kind.group_ranks = raw_.texts.add(event.group_ranks);
    kind.group_size =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(event.group_size, UINT32_MAX));
    kind.communication = communication_of(event);
    const auto sequence = static_cast<std::uint32_t>(
        event.sequence_number && *event.sequence_number < UINT32_MAX ? *event.sequence_number + 1
                                                                     : 0);
    if (sequence != 0 && meanings_.mark(name) == PhaseMark::kBackward)
        differentiated_.insert(sequence);
    operators_.push_back(
        {event.start, event.start + event.duration, event.external_id.value_or(kNoId),
         thread_of(event), raw_.operator_kinds.add(kind), sequence});
}

/// What the operator states about the communication that it issues: 1 + index into RawTrace::calls.
std::uint32_t EventCollector::communication_of(const TraceEvent& event) {
    if (event.collective_name.empty())
        return 0;
    CommunicationCall call;
    call.name = raw_.texts.add(event.collective_name);
    call.datatype = raw_.texts.add(event.datatype);
    call.in_splits = raw_.texts.add(event.in_splits);
    call.out_splits = raw_.texts.add(event.out_splits);
    call.in_elements = event.in_elements;
    call.out_elements = event.out_elements;
    call.to_rank = rank_of(event.to_rank);
    call.from_rank = rank_of(event.from_rank);
    return raw_.calls.add(call) + 1;
}

bool EventCollector::mark_phase(const TraceEvent& event, StringInterner::Id name) {
    const Interval interval{event.start, event.start + event.duration};
    switch (meanings_.mark(name)) {
    case PhaseMark::kStep:
        raw_.steps.push_back({interval.start, interval.end, number_of(event.name)});
        break;
    case PhaseMark::kForward:
        raw_.forward.push_back(interval);
        break;
    case PhaseMark::kBackward:
        raw_.backward.push_back(interval);
        break;
    case PhaseMark::kOptimizer:
        raw_.optimizer.push_back(interval);
        if (event.name.starts_with("Optimizer.step"))
            raw_.updates.push_back({interval.start, interval.end, name});
        break;
    case PhaseMark::kNothing:
        return false;
    }
    return true;
}

void EventCollector::check_kernels() const {
    bool computes = false;
    for (const RawGpuEvent& gpu : raw_.gpu.pass())
        computes = computes || gpu.work != GpuWork::kCopy;
    if (!computes)
        throw ConfigError(
            raw_.report.file, "",
            "holds no GPU kernel; expected a trace taken with GPU activities");
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/event_collector.h"

#include "sim/core/error.h"
#include "workloads/kineto/classify.h"
#include "workloads/kineto/kernel_traffic.h"
#include "workloads/kineto/launching.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

bool contains(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

bool is_synchronising(std::string_view name) {
    return contains(name, "Synchronize") || name == "cudaMemcpy" || name == "hipMemcpy" ||
           name == "hipMemcpyWithStream";
}

bool by_start(const Interval& a, const Interval& b) {
    return a.start < b.start;
}

/// A node of the autograd graph that runs in the backward pass: "AddmmBackward0",
/// "CudnnConvolutionBackward".
bool is_autograd_node(std::string_view name) {
    if (starts_with(name, "autograd::engine::evaluate_function") ||
        name == "torch::autograd::AccumulateGrad")
        return true;
    while (!name.empty() && name.back() >= '0' && name.back() <= '9')
        name.remove_suffix(1);
    constexpr std::string_view kSuffix = "Backward";
    return name.size() >= kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
}

}  // namespace

void EventCollector::add(TraceEvent& event) {
    if (event.phase != "X") {
        drop(
            event.phase == "M" ? "metadata"
            : event.phase == "s" || event.phase == "f" || event.phase == "t"
                ? "flow arrows"
                : "instants and counters");
        return;
    }
    switch (kind_of(event)) {
    case Kind::kKernel:
        add_gpu(event, communicates(event.name) ? GpuWork::kCommunication : GpuWork::kKernel);
        break;
    case Kind::kCopy:
        add_gpu(event, GpuWork::kCopy);
        break;
    case Kind::kCall:
        add_call(event);
        break;
    case Kind::kOperator:
        add_operator(event);
        break;
    case Kind::kAnnotation:
        add_annotation(event);
        break;
    case Kind::kMirrored:
        drop("annotations mirrored on the GPU");
        break;
    case Kind::kPython:
        drop("Python frames");
        break;
    case Kind::kUnknown:
        drop("other categories");
        break;
    }
}

EventCollector::Kind EventCollector::kind_of(const TraceEvent& event) {
    if (event.category.empty())
        return event.grid ? Kind::kKernel : Kind::kUnknown;
    const auto [at, fresh] = kinds_.try_emplace(event.category, Kind::kUnknown);
    if (fresh)
        at->second = classify_category(event.category);
    return at->second;
}

bool EventCollector::communicates(const std::string& name) {
    const auto [at, fresh] = communicates_.try_emplace(name, false);
    if (fresh)
        at->second = is_communication(name);
    return at->second;
}

EventCollector::Kind EventCollector::classify_category(std::string_view name) {
    std::string category(name);
    std::transform(category.begin(), category.end(), category.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    if (category == "kernel")
        return Kind::kKernel;
    if (category == "gpu_memcpy" || category == "memcpy" || category == "gpu_memset" ||
        category == "memset")
        return Kind::kCopy;
    if (category == "cuda_runtime" || category == "runtime" || category == "cuda_driver" ||
        category == "hip_runtime" || category == "driver")
        return Kind::kCall;
    if (category == "cpu_op" || category == "operator")
        return Kind::kOperator;
    if (category == "user_annotation")
        return Kind::kAnnotation;
    if (category == "gpu_user_annotation")
        return Kind::kMirrored;
    if (category == "python_function")
        return Kind::kPython;
    return Kind::kUnknown;
}

void EventCollector::join_launches() {
    for (RawGpuEvent& gpu : raw_.gpu) {
        gpu.launch = gpu.launch_end = gpu.event.start;
        const auto call =
            gpu.event.correlation ? launches_.find(*gpu.event.correlation) : launches_.end();
        if (call == launches_.end())
            continue;
        gpu.has_launch = true;
        gpu.launch = call->second.start;
        gpu.launch_end = call->second.end;
        gpu.launch_thread = call->second.thread;
        if (!gpu.event.external_id)
            gpu.event.external_id = call->second.external_id;
        take_shape(call->second, gpu.event);
    }
}

void EventCollector::finish() {
    join_launches();
    for (const RawGpuEvent& gpu : raw_.gpu)
        if (gpu.work == GpuWork::kCommunication)
            raw_.communication.push_back({gpu.event.start, gpu.event.start + gpu.event.duration});
    merge_intervals(raw_.communication);
    find_launching_operators(raw_, operators_);
    order_launches(raw_);
    const auto without_launch = std::count_if(
        raw_.gpu.begin(), raw_.gpu.end(), [](const RawGpuEvent& gpu) { return !gpu.has_launch; });
    if (without_launch > 0)
        raw_.report.warnings.push_back(fmt::format(
            "{} GPU operations have no launching call (CUDA graphs, cut traces): taken as "
            "launched just before the next of their stream",
            without_launch));
    for (const RawGpuEvent& gpu : raw_.gpu)
        use(gpu.work == GpuWork::kCopy            ? "copies"
            : gpu.work == GpuWork::kCommunication ? "communication kernels"
                                                  : "kernels");
    std::sort(raw_.syncs.begin(), raw_.syncs.end(), by_start);
    std::sort(raw_.steps.begin(), raw_.steps.end(), by_start);
    for (auto* intervals : {&raw_.forward, &raw_.backward, &raw_.optimizer})
        merge_intervals(*intervals);
    check_kernels();
}

void EventCollector::add_gpu(TraceEvent& event, GpuWork work) {
    RawGpuEvent gpu;
    gpu.work = work;
    if (event.stream.empty())
        event.stream = event.thread;
    if (!device_)
        device_ = event.device;
    else if (event.device && event.device != device_)
        event.stream = fmt::format("device {} stream {}", *event.device, event.stream);
    gpu.event = std::move(event);
    raw_.gpu.push_back(std::move(gpu));
}

/// AMD's profiler may leave the launch's shape on the call alone.
void EventCollector::take_shape(const LaunchCall& call, TraceEvent& event) {
    if (!event.grid)
        event.grid = call.grid;
    if (!event.block)
        event.block = call.block;
    if (event.shared_memory == 0)
        event.shared_memory = call.shared_memory;
    if (!call.counts_threads || !event.grid || !event.block)
        return;
    const auto blocks = [](std::uint32_t threads, std::uint32_t block) {
        return block == 0 ? threads : threads / block + (threads % block != 0 ? 1 : 0);
    };
    event.grid = Dim3{
        blocks(event.grid->x, event.block->x),
        blocks(event.grid->y, event.block->y),
        blocks(event.grid->z, event.block->z)};
}

std::uint32_t EventCollector::thread_of(const TraceEvent& event) {
    return threads_.try_emplace(event.thread, static_cast<std::uint32_t>(threads_.size()))
        .first->second;
}

std::string_view EventCollector::text(std::string&& value) {
    return *raw_.texts.insert(std::move(value)).first;
}

void EventCollector::add_call(const TraceEvent& event) {
    use("runtime calls");
    const std::uint32_t thread = thread_of(event);
    const std::uint64_t end = event.start + event.duration;
    // hipExtModuleLaunchKernel takes its grid in work items.
    if (event.correlation)
        launches_[*event.correlation] = {
            event.start,
            end,
            thread,
            event.name == "hipExtModuleLaunchKernel",
            event.external_id,
            event.grid,
            event.block,
            event.shared_memory};
    if (contains(event.name, "StreamWaitEvent"))
        raw_.waits.push_back({event.start, thread, false});
    if (is_synchronising(event.name))
        raw_.syncs.push_back({event.start, end});
}

void EventCollector::add_operator(TraceEvent& event) {
    use("operators");
    mark_phase(event);
    keep_operator(event);
}

void EventCollector::add_annotation(TraceEvent& event) {
    const bool collective = starts_with(event.name, "nccl:");
    if (mark_phase(event))
        use("annotations");
    else if (collective)
        use("annotations of collectives");
    else
        drop("annotations that name no phase");
    // Others span whole phases and would hide which operator launched what.
    if (collective)
        keep_operator(event);
}

void EventCollector::keep_operator(TraceEvent& event) {
    const bool convolution = contains(event.name, "conv") && !event.concrete_inputs.empty();
    const auto stride = static_cast<std::uint32_t>(
        convolution ? parse_stride(event.name, event.concrete_inputs) : 1);
    operators_.push_back(
        {event.start,
         event.start + event.duration,
         thread_of(event),
         text(std::move(event.name)),
         text(std::move(event.input_dims)),
         text(std::move(event.input_types)),
         stride,
         event.external_id});
}

bool EventCollector::mark_phase(const TraceEvent& event) {
    const Interval interval{event.start, event.start + event.duration};
    const std::string& name = event.name;
    if (starts_with(name, "ProfilerStep"))
        raw_.steps.push_back(interval);
    else if (starts_with(name, "Optimizer.") || contains(name, "## optimizer ##"))
        raw_.optimizer.push_back(interval);
    else if (contains(name, "## forward ##") || contains(name, "DistributedDataParallel.forward"))
        raw_.forward.push_back(interval);
    else if (contains(name, "## backward ##") || is_autograd_node(name))
        raw_.backward.push_back(interval);
    else
        return false;
    return true;
}

void EventCollector::check_kernels() const {
    if (std::all_of(raw_.gpu.begin(), raw_.gpu.end(), [](const RawGpuEvent& gpu) {
            return gpu.work == GpuWork::kCopy;
        }))
        throw ConfigError(
            raw_.report.file,
            "",
            "holds no GPU kernel; expected a trace taken with GPU activities");
}

namespace {

/// What to take from an operator's external id to get the number that the execution trace gave it:
/// the two count the same calls from different starts. The one that most names agree on.
std::optional<std::uint64_t>
record_offset(const std::vector<CpuOperator>& operators, const ExecutionTrace& trace) {
    constexpr std::uint64_t kFurthest = 8;
    std::optional<std::uint64_t> best;
    std::uint64_t most = 0;
    for (std::uint64_t offset = 0; offset <= kFurthest; ++offset) {
        std::uint64_t agree = 0;
        for (const CpuOperator& op : operators) {
            if (!op.external_id || *op.external_id < offset)
                continue;
            const auto node = trace.by_record.find(*op.external_id - offset);
            agree += node != trace.by_record.end() && node->second.name == op.name ? 1 : 0;
        }
        if (agree > most) {
            most = agree;
            best = offset;
        }
    }
    // Half: one of the two may have begun earlier or ended later.
    return 2 * most >= std::min<std::uint64_t>(operators.size(), trace.by_record.size())
               ? best
               : std::nullopt;
}

}  // namespace

void EventCollector::take_shapes(const ExecutionTrace& trace) {
    const std::optional<std::uint64_t> offset = record_offset(operators_, trace);
    if (!offset)
        throw ConfigError(
            trace.file,
            "/nodes",
            fmt::format(
                "are other operators than those of {}; expected the execution trace of the same "
                "run and rank, right behind its Kineto trace",
                raw_.report.file));
    std::uint64_t found = 0;
    std::uint64_t filled = 0;
    for (CpuOperator& op : operators_) {
        if (!op.external_id || *op.external_id < *offset)
            continue;
        const auto node = trace.by_record.find(*op.external_id - *offset);
        if (node == trace.by_record.end() || node->second.name != op.name)
            continue;
        ++found;
        if (!op.input_dims.empty())
            continue;
        ++filled;
        op.input_dims = text(std::string(node->second.input_dims));
        op.input_types = text(std::string(node->second.input_types));
    }
    raw_.report.warnings.push_back(fmt::format(
        "execution trace {}: {} of its {} nodes are operators of this trace, {} of them got their "
        "shapes from it",
        trace.file,
        found,
        trace.nodes,
        filled));
}

}  // namespace switchfold

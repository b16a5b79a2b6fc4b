// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/classify.h"
#include "workloads/kineto/raw_trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace switchfold {

namespace {

// Clocks of CPU and GPU, and of streams, agree to about this much; older traces have whole microseconds.
constexpr std::uint64_t kClockNoise = 2'000'000;
// A kernel that starts so soon after a collective's end was waiting for it.
constexpr std::uint64_t kWaitedGap = 10'000'000;

/// Elements of the largest tensor in "Input Dims" and of all of them together; scalars and empty lists count nothing.
struct Elements {
    std::uint64_t largest = 0;
    std::uint64_t total = 0;
};

void add_elements(const nlohmann::json& dims, Elements& elements) {
    if (!dims.is_array() || dims.empty())
        return;
    const bool shape = std::all_of(dims.begin(), dims.end(), [](const auto& d) { return d.is_number_unsigned(); });
    if (!shape) {
        for (const auto& inner : dims)
            add_elements(inner, elements);
        return;
    }
    std::uint64_t product = 1;
    for (const auto& d : dims) {
        const auto n = d.template get<std::uint64_t>();
        constexpr std::uint64_t kMost = 1ULL << 40U;
        product = n == 0 || product > kMost / n ? 0 : product * n;
    }
    elements.largest = std::max(elements.largest, product);
    elements.total += product;
}

Elements elements_of(std::string_view dims) {
    Elements elements;
    if (!dims.empty())
        add_elements(nlohmann::json::parse(dims, nullptr, false), elements);
    return elements;
}

class RankBuilder {
public:
    RankBuilder(RawTrace& raw, NameTable& names, std::vector<Group>& groups) :
        raw_(raw), names_(names), groups_(groups) {
        built_.graph = std::make_shared<RankGraph>();
        built_.graph->streams.push_back({StreamKind::kHost, "host", 0});
        host_name_ = names_.intern("host");
        peak_ = peak_bandwidth(raw.report.gpu_name, raw.report.memory_bytes);
        if (!peak_) {
            raw.report.warnings.push_back(fmt::format(
                "GPU \"{}\" is unknown: kernels' default bytes assume 1 TB/s", raw.report.gpu_name));
            peak_ = 1e12;
        }
    }

    BuiltRank build() {
        origin_ = raw_.gpu.front().launch;
        for (const RawGpuEvent& gpu : raw_.gpu)
            origin_ = std::min(origin_, gpu.launch);
        host_time_ = origin_;
        operation_of_.assign(raw_.gpu.size(), UINT32_MAX);
        std::size_t sync = 0;
        std::uint64_t last_end = origin_;
        for (std::size_t i = 0; i < raw_.gpu.size(); ++i) {
            while (sync < raw_.syncs.size() && raw_.syncs[sync].start < raw_.gpu[i].launch) {
                add_sync(raw_.syncs[sync], i);
                ++sync;
            }
            add_gpu(i);
            last_end = std::max(last_end, end_of(i));
        }
        set_isolated_durations(raw_, *built_.graph, operation_of_);
        for (std::size_t i = 0; i < raw_.gpu.size(); ++i)
            set_bytes(i);
        TraceFileReport& report = raw_.report;
        report.steps = static_cast<std::uint32_t>(std::max<std::size_t>(1, raw_.steps.size()));
        report.streams = static_cast<std::uint32_t>(built_.graph->streams.size() - 1);
        built_.iteration = Time((last_end - origin_) / report.steps);
        count();
        return std::move(built_);
    }

private:
    struct OnStream {
        std::uint32_t stream;
        std::size_t last = SIZE_MAX;  ///< raw index of the operation launched last
        bool communicates = false;
    };

    [[nodiscard]] std::uint64_t end_of(std::size_t raw) const {
        return raw_.gpu[raw].event.start + raw_.gpu[raw].event.duration;
    }

    std::uint32_t add(Operation operation, std::uint64_t start, std::uint64_t end) {
        auto& operations = built_.graph->operations;
        operations.push_back(std::move(operation));
        built_.measured.push_back({Time(start), Time(end)});
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
            from = std::max(from, end_of(waits_for));
        }
        host.body = HostDelayOperation{Time(time > from ? time - from : 0)};
        host_last_ = add(std::move(host), 0, 0);
        host_time_ = std::max(host_time_, time);
    }

    void add_sync(const SyncCall& call, std::size_t next) {
        // Another thread went on launching meanwhile: then the machine's work did not wait for this call.
        if (next < raw_.gpu.size() && raw_.gpu[next].launch < call.end)
            return;
        constexpr std::size_t kLookBack = 4096;
        std::size_t found = SIZE_MAX;
        for (std::size_t i = next; i-- > 0 && next - i < kLookBack;)
            if (operation_of_[i] != UINT32_MAX && end_of(i) > call.start &&
                end_of(i) <= call.end + kClockNoise && (found == SIZE_MAX || end_of(i) > end_of(found)))
                found = i;
        host_until(call.start);
        host_until(call.end, found);
    }

    OnStream& stream_of(const RawGpuEvent& gpu) {
        const auto [at, fresh] = streams_.try_emplace(gpu.event.stream);
        if (fresh) {
            at->second.stream = static_cast<std::uint32_t>(built_.graph->streams.size());
            built_.graph->streams.push_back({StreamKind::kGpu, gpu.event.stream, 0});
        }
        return at->second;
    }

    [[nodiscard]] std::uint32_t step_of(std::uint64_t launch) const {
        std::uint32_t step = 0;
        for (std::size_t i = 0; i < raw_.steps.size(); ++i)
            if (raw_.steps[i].start <= launch)
                step = static_cast<std::uint32_t>(i);
        return step;
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
            raw_.backward.begin(), raw_.backward.end(), launch, [](std::uint64_t t, const Interval& i) {
                return t < i.start;
            });
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
        operation.stream = own.stream;
        operation.step = step_of(gpu.launch);
        operation.phase = phase_of(gpu.launch);
        operation.dependencies.push_back(host_last_);
        std::uint64_t ready = std::max(gpu.launch, origin_);
        if (own.last != SIZE_MAX)
            ready = std::max(ready, end_of(own.last));
        add_cross_stream(index, own, operation, ready);
        if (gpu.event.start > ready)
            operation.gap = Time(gpu.event.start - ready);
        set_body(gpu, operation);
        own.communicates = own.communicates || gpu.work == GpuWork::kCommunication;
        own.last = index;
        operation_of_[index] = add(
            std::move(operation),
            gpu.event.start - std::min(origin_, gpu.event.start),
            end_of(index) - std::min(origin_, gpu.event.start));
        last_launch_ = gpu.launch;
        // A copy whose call came back only when the GPU was done held up the host.
        if (gpu.work == GpuWork::kCopy && gpu.has_launch && gpu.launch_end >= end_of(index) &&
            (index + 1 == raw_.gpu.size() || raw_.gpu[index + 1].launch >= gpu.launch_end))
            host_until(gpu.launch_end, index);
    }

    void add_cross_stream(
        std::size_t index, const OnStream& own, Operation& operation, std::uint64_t& ready) {
        const RawGpuEvent& gpu = raw_.gpu[index];
        const bool communication = gpu.work == GpuWork::kCommunication;
        const auto wait = std::upper_bound(raw_.stream_waits.begin(), raw_.stream_waits.end(), last_launch_);
        const bool told_to_wait = wait != raw_.stream_waits.end() && *wait <= gpu.launch;
        for (const auto& [name, other] : streams_) {
            if (other.stream == own.stream || other.last == SIZE_MAX)
                continue;
            const std::uint64_t end = end_of(other.last);
            const bool in_order = end <= gpu.event.start + kClockNoise;
            bool depends = false;
            if (communication)
                depends = !other.communicates;  // c10d records an event on the current stream first
            else if (told_to_wait)
                depends = true;
            else if (other.communicates)
                depends = in_order && gpu.event.start <= end + kWaitedGap && gpu.launch < end && ready < end;
            if (!depends)
                continue;
            if (!in_order) {
                ++raw_.report.dropped["dependencies that the measured times contradict"];
                continue;
            }
            operation.dependencies.push_back(operation_of_[other.last]);
            ready = std::max(ready, end);
        }
    }

    void set_body(const RawGpuEvent& gpu, Operation& operation) {
        const TraceEvent& e = gpu.event;
        if (gpu.work == GpuWork::kCopy) {
            operation.body = CopyOperation{copy_kind(e), Bytes(e.bytes), Time(e.duration), 0};
            return;
        }
        if (gpu.work == GpuWork::kCommunication) {
            const auto kind = classify_collective(
                e.collective_name + " " + std::string(gpu.launching_op), e.name);
            if (kind) {
                operation.body = collective(gpu, *kind);
                return;
            }
            raw_.report.warnings.push_back(
                fmt::format("communication kernel of unknown kind taken as a plain kernel: {}", e.name));
        }
        KernelOperation kernel;
        kernel.grid = e.grid.value_or(Dim3{});
        kernel.block = e.block.value_or(Dim3{256, 1, 1});
        kernel.registers_per_thread = e.registers_per_thread;
        kernel.shared_memory = Bytes(e.shared_memory);
        kernel.kernel_class = classify_kernel(e.name);
        operation.body = kernel;
    }

    static CopyKind copy_kind(const TraceEvent& event) {
        const auto has = [&](std::string_view word) { return event.name.find(word) != std::string::npos; };
        if (has("emset"))
            return CopyKind::kMemset;
        if (has("HtoD") || has("HostToDevice"))
            return CopyKind::kHostToDevice;
        if (has("DtoH") || has("DeviceToHost"))
            return CopyKind::kDeviceToHost;
        return CopyKind::kDeviceToDevice;
    }

    CollectiveOperation collective(const RawGpuEvent& gpu, CollectiveKind kind) {
        const TraceEvent& e = gpu.event;
        CollectiveOperation c;
        c.kind = kind;
        c.datatype = parse_datatype(e.datatype).value_or(parse_datatype(e.name).value_or(Datatype::kFloat32));
        const std::uint64_t elements =
            kind == CollectiveKind::kAllGather ? std::max(e.out_elements, e.in_elements)
                                               : std::max(e.in_elements, kind == CollectiveKind::kReduceScatter ? e.out_elements : 0);
        const std::uint64_t known = elements > 0 ? elements : elements_of(gpu.input_dims).largest;
        c.bytes = Bytes(known * size_of(c.datatype).count());
        c.size_source = known > 0 ? SizeSource::kTrace : SizeSource::kEstimatedFromDuration;
        c.group = group_of(e);
        c.sequence = sequences_[c.group]++;
        c.measured = Time(e.duration);
        c.thread_blocks = static_cast<std::uint32_t>(e.grid.value_or(Dim3{}).count());
        c.threads_per_block = static_cast<std::uint32_t>(e.block.value_or(Dim3{}).count());
        c.registers_per_thread = e.registers_per_thread;
        c.shared_memory = Bytes(e.shared_memory);
        const KernelVariant variant = kernel_variant(e.name);
        c.algorithm = variant.algorithm;
        c.protocol = variant.protocol;
        return c;
    }

    std::uint32_t group_of(const TraceEvent& event) {
        std::vector<std::uint32_t> ranks;
        if (!event.group_ranks.empty()) {
            const auto parsed = nlohmann::json::parse(event.group_ranks, nullptr, false);
            if (parsed.is_array())
                for (const auto& rank : parsed)
                    if (rank.is_number_unsigned() && rank.get<std::uint64_t>() < UINT32_MAX)
                        ranks.push_back(rank.get<std::uint32_t>());
            std::sort(ranks.begin(), ranks.end());
            ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        }
        if (ranks.empty())
            for (std::uint32_t r = 0; r < raw_.report.world_size; ++r)
                ranks.push_back(r);
        const std::string name = event.group_name.empty() ? "world" : event.group_name;
        for (std::uint32_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].name == name && groups_[g].ranks == ranks)
                return g;
        groups_.push_back({name, ranks});
        return static_cast<std::uint32_t>(groups_.size() - 1);
    }

    void set_bytes(std::size_t index) {
        Operation& operation = built_.graph->operations[operation_of_[index]];
        auto* kernel = std::get_if<KernelOperation>(&operation.body);
        if (kernel == nullptr)
            return;
        const double most = *peak_ * to_seconds(kernel->isolated);
        const Elements elements = elements_of(raw_.gpu[index].input_dims);
        const bool streaming = kernel->kernel_class == KernelClass::kElementwise ||
                               kernel->kernel_class == KernelClass::kCopyLayout ||
                               kernel->kernel_class == KernelClass::kNorm;
        if (streaming && elements.total > 0) {
            // Reads every input once and writes as much as the largest; 4 bytes each unless the kernel says less.
            const std::string& name = raw_.gpu[index].event.name;
            const bool narrow = name.find("Half") != std::string::npos ||
                                name.find("BFloat16") != std::string::npos;
            const double width = narrow ? 2 : 4;
            const double read = static_cast<double>(elements.total) * width;
            const double written = static_cast<double>(elements.largest) * width;
            const double scale = std::min(1.0, most / (read + written));
            kernel->bytes_read = Bytes(static_cast<std::uint64_t>(read * scale));
            kernel->bytes_written = Bytes(static_cast<std::uint64_t>(written * scale));
            kernel->byte_source = ByteSource::kShapes;
            return;
        }
        const double bytes = most * default_bandwidth_share(kernel->kernel_class);
        kernel->bytes_read = Bytes(static_cast<std::uint64_t>(bytes * 0.6));
        kernel->bytes_written = Bytes(static_cast<std::uint64_t>(bytes * 0.4));
        kernel->byte_source = ByteSource::kClassDefault;
    }

    void count() {
        TraceFileReport& report = raw_.report;
        for (const Operation& operation : built_.graph->operations) {
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
                ++report.kernels;
                ++report.durations[std::string(to_string(kernel->duration_source))];
                ++report.bytes[std::string(to_string(kernel->byte_source))];
            } else if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
                ++report.collectives;
                ++report.sizes[std::string(to_string(collective->size_source))];
            } else if (std::holds_alternative<CopyOperation>(operation.body)) {
                ++report.copies;
            }
        }
    }

    RawTrace& raw_;
    NameTable& names_;
    std::vector<Group>& groups_;
    BuiltRank built_;
    std::optional<double> peak_;
    std::uint32_t host_name_ = 0;
    std::uint32_t host_last_ = UINT32_MAX;
    std::uint64_t origin_ = 0;
    std::uint64_t host_time_ = 0;
    std::uint64_t last_launch_ = 0;
    std::map<std::string, OnStream> streams_;
    std::map<std::uint32_t, std::uint64_t> sequences_;
    std::vector<std::uint32_t> operation_of_;
};

}  // namespace

BuiltRank build_rank(RawTrace& raw, NameTable& names, std::vector<Group>& groups) {
    return RankBuilder(raw, names, groups).build();
}

}  // namespace switchfold

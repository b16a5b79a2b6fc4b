// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/raw_trace.h"

#include "sim/core/error.h"
#include "workloads/kineto/classify.h"
#include "workloads/kineto/scanner.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace switchfold {

namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

bool contains(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

struct LaunchCall {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t thread = 0;
    std::optional<std::uint64_t> external_id;
};

bool is_synchronising(std::string_view name) {
    return contains(name, "Synchronize") || name == "cudaMemcpy" || name == "hipMemcpy" ||
           name == "hipMemcpyWithStream";
}

/// Collects events of one file into a RawTrace.
class Collector {
public:
    explicit Collector(RawTrace& raw) : raw_(raw) {}

    void add(TraceEvent& event) {
        if (event.phase != "X") {
            drop(event.phase == "M"                                        ? "metadata"
                 : event.phase == "s" || event.phase == "f" || event.phase == "t" ? "flow arrows"
                                                                           : "instants and counters");
            return;
        }
        std::string category = event.category;
        std::transform(category.begin(), category.end(), category.begin(), [](unsigned char c) {
            return static_cast<char>(std::tolower(c));
        });
        if (category == "kernel" || (category.empty() && event.grid)) {
            add_gpu(event, is_communication(event.name) ? GpuWork::kCommunication : GpuWork::kKernel);
        } else if (category == "gpu_memcpy" || category == "memcpy" || category == "gpu_memset" || category == "memset") {
            add_gpu(event, GpuWork::kCopy);
        } else if (
            category == "cuda_runtime" || category == "runtime" || category == "cuda_driver" ||
            category == "hip_runtime" || category == "driver") {
            add_call(event);
        } else if (category == "cpu_op" || category == "operator") {
            add_operator(event);
        } else if (category == "user_annotation") {
            add_annotation(event);
        } else if (category == "gpu_user_annotation") {
            drop("annotations mirrored on the GPU");
        } else if (category == "python_function") {
            drop("Python frames");
        } else {
            drop("other categories");
        }
    }

    void finish() {
        for (RawGpuEvent& gpu : raw_.gpu) {
            const auto call = gpu.event.correlation ? launches_.find(*gpu.event.correlation) : launches_.end();
            std::optional<std::uint64_t> external = gpu.event.external_id;
            gpu.launch = gpu.launch_end = gpu.event.start;
            if (call != launches_.end()) {
                gpu.has_launch = true;
                gpu.launch = call->second.start;
                gpu.launch_end = call->second.end;
                gpu.launch_thread = call->second.thread;
                if (!external)
                    external = call->second.external_id;
                // A clock that puts the GPU before its own launch cannot be right: trust the GPU.
                if (gpu.launch > gpu.event.start)
                    gpu.launch = gpu.event.start;
            } else {
                ++without_launch_;
            }
            const auto op = external ? raw_.operators.find(*external) : raw_.operators.end();
            if (op != raw_.operators.end()) {
                gpu.launching_op = op->second.name;
                gpu.input_dims = op->second.input_dims;
            }
        }
        std::stable_sort(raw_.gpu.begin(), raw_.gpu.end(), [](const auto& a, const auto& b) {
            return a.launch != b.launch ? a.launch < b.launch : a.event.start < b.event.start;
        });
        std::sort(raw_.syncs.begin(), raw_.syncs.end(), [](const auto& a, const auto& b) {
            return a.start < b.start;
        });
        std::sort(raw_.stream_waits.begin(), raw_.stream_waits.end());
        for (auto* intervals : {&raw_.forward, &raw_.backward, &raw_.optimizer})
            merge_intervals(*intervals);
        std::sort(raw_.steps.begin(), raw_.steps.end(), [](const auto& a, const auto& b) {
            return a.start < b.start;
        });
        if (without_launch_ > 0)
            raw_.report.warnings.push_back(fmt::format(
                "{} GPU operations have no launching call: they start when they did in the trace",
                without_launch_));
    }

private:
    void drop(const char* reason) { ++raw_.report.dropped[reason]; }
    void use(const char* what) { ++raw_.report.used[what]; }

    void add_gpu(TraceEvent& event, GpuWork work) {
        use(work == GpuWork::kCopy            ? "copies"
            : work == GpuWork::kCommunication ? "communication kernels"
                                              : "kernels");
        RawGpuEvent gpu;
        gpu.work = work;
        if (event.stream.empty())
            event.stream = event.thread;
        gpu.event = std::move(event);
        raw_.gpu.push_back(std::move(gpu));
    }

    void add_call(const TraceEvent& event) {
        use("runtime calls");
        const auto [thread, fresh] =
            threads_.try_emplace(event.thread, static_cast<std::uint32_t>(threads_.size()));
        static_cast<void>(fresh);
        const std::uint64_t end = event.start + event.duration;
        if (event.correlation)
            launches_[*event.correlation] = {event.start, end, thread->second, event.external_id};
        if (contains(event.name, "StreamWaitEvent"))
            raw_.stream_waits.push_back(event.start);
        if (is_synchronising(event.name))
            raw_.syncs.push_back({event.start, end});
    }

    void add_operator(TraceEvent& event) {
        const Interval interval{event.start, event.start + event.duration};
        const bool backward = starts_with(event.name, "autograd::engine::evaluate_function");
        if (backward) {
            use("operators");
            raw_.backward.push_back(interval);
        } else {
            if (starts_with(event.name, "Optimizer.step"))
                raw_.optimizer.push_back(interval);
            use("operators");
        }
        if (event.external_id) {
            CpuOperator& op = raw_.operators[*event.external_id];
            op.name = std::move(event.name);
            op.input_dims = std::move(event.input_dims);
        }
    }

    void add_annotation(const TraceEvent& event) {
        const Interval interval{event.start, event.start + event.duration};
        const std::string& name = event.name;
        if (starts_with(name, "ProfilerStep"))
            raw_.steps.push_back(interval);
        else if (contains(name, "## forward ##") || contains(name, "DistributedDataParallel.forward"))
            raw_.forward.push_back(interval);
        else if (contains(name, "## backward ##"))
            raw_.backward.push_back(interval);
        else if (starts_with(name, "Optimizer.step") || contains(name, "## optimizer ##"))
            raw_.optimizer.push_back(interval);
        else {
            drop("annotations that name no phase");
            return;
        }
        use("annotations");
    }

    RawTrace& raw_;
    std::unordered_map<std::uint64_t, LaunchCall> launches_;
    std::unordered_map<std::string, std::uint32_t> threads_;
    std::uint64_t without_launch_ = 0;
};

void read_header(const TraceScanner& scanner, TraceFileReport& report) {
    using Json = nlohmann::json;
    const auto value = [&](const char* key) {
        const auto found = scanner.values().find(key);
        return found == scanner.values().end() ? Json()
                                               : Json::parse(found->second, nullptr, false);
    };
    const Json devices = value("deviceProperties");
    if (devices.is_array() && !devices.empty() && devices[0].is_object()) {
        const Json& device = devices[0];
        report.gpu_name = device.value("name", "");
        if (device.contains("totalGlobalMem") && device["totalGlobalMem"].is_number_unsigned())
            report.memory_bytes = device["totalGlobalMem"].get<std::uint64_t>();
        if (device.contains("numSms") && device["numSms"].is_number_unsigned())
            report.sms = device["numSms"].get<std::uint32_t>();
    }
    const Json distributed = value("distributedInfo");
    if (distributed.is_object()) {
        const auto number = [&](const char* key, std::uint32_t fallback) {
            const auto found = distributed.find(key);
            return found != distributed.end() && found->is_number_unsigned() &&
                           found->get<std::uint64_t>() <= 1'000'000
                       ? found->get<std::uint32_t>()
                       : fallback;
        };
        report.rank = number("rank", 0);
        report.world_size = std::max(1U, number("world_size", 1));
    }
    const Json synthetic = value("switchfold_synthetic");
    report.synthetic = synthetic.is_boolean() && synthetic.get<bool>();
}

}  // namespace

RawTrace read_raw_trace(const std::filesystem::path& file, std::uint64_t max_inflated) {
    RawTrace raw;
    raw.report.file = file.string();
    TraceScanner::Limits limits;
    limits.inflated = max_inflated;
    TraceScanner scanner(file, limits);
    Collector collector(raw);
    EventParser parser;
    TraceEvent event;
    std::vector<Problem> problems;
    scanner.run([&](std::string& text, std::uint64_t offset) {
        ++raw.report.events;
        try {
            parser.parse(text, event);
        } catch (const std::invalid_argument& error) {
            constexpr std::size_t kMostProblems = 20;
            problems.push_back(
                {file.string(),
                 fmt::format("byte {}", offset),
                 fmt::format("event {}: {}", raw.report.events - 1, error.what())});
            if (problems.size() == kMostProblems)
                throw ConfigError(std::move(problems));
            return;
        }
        collector.add(event);
    });
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    read_header(scanner, raw.report);
    collector.finish();
    const bool kernels = std::any_of(raw.gpu.begin(), raw.gpu.end(), [](const auto& gpu) {
        return gpu.work != GpuWork::kCopy;
    });
    if (!kernels)
        throw ConfigError(
            file.string(), "/traceEvents", "holds no GPU kernel; expected a trace taken with GPU activities");
    return raw;
}

void merge_intervals(std::vector<Interval>& intervals) {
    std::sort(intervals.begin(), intervals.end(), [](const auto& a, const auto& b) {
        return a.start < b.start;
    });
    std::vector<Interval> merged;
    for (const Interval& interval : intervals) {
        if (!merged.empty() && interval.start <= merged.back().end)
            merged.back().end = std::max(merged.back().end, interval.end);
        else
            merged.push_back(interval);
    }
    intervals = std::move(merged);
}

bool covers(const std::vector<Interval>& merged, std::uint64_t time) {
    const auto after = std::upper_bound(
        merged.begin(), merged.end(), time, [](std::uint64_t t, const Interval& i) { return t < i.start; });
    return after != merged.begin() && time < std::prev(after)->end;
}

std::uint64_t
covered(const std::vector<Interval>& merged, std::uint64_t start, std::uint64_t end) {
    auto at = std::upper_bound(
        merged.begin(), merged.end(), start, [](std::uint64_t t, const Interval& i) { return t < i.start; });
    if (at != merged.begin())
        --at;
    std::uint64_t sum = 0;
    for (; at != merged.end() && at->start < end; ++at) {
        const std::uint64_t from = std::max(start, at->start);
        const std::uint64_t to = std::min(end, at->end);
        if (to > from)
            sum += to - from;
    }
    return sum;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/launching.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace switchfold {

namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

bool issues_collective(const CpuOperator& op) {
    return starts_with(op.name, "nccl:") || starts_with(op.name, "c10d::") ||
           op.name == "record_param_comms";
}

bool names_tensor(std::string_view dims) {
    return dims.find_first_of("123456789") != std::string_view::npos;
}

void take(RawGpuEvent& gpu, const CpuOperator& op) {
    gpu.launching_op = op.name;
    gpu.input_dims = op.input_dims;
    gpu.input_types = op.input_types;
    gpu.stride = op.stride;
    gpu.call = &op;
}

void take_collective(RawGpuEvent& gpu, const CpuOperator& op) {
    if (!issues_collective(op))
        return;
    if (gpu.collective.empty() && op.name != "record_param_comms")
        gpu.collective = op.name;
    if (gpu.collective_dims.empty() && names_tensor(op.input_dims)) {
        gpu.collective_dims = op.input_dims;
        gpu.collective_types = op.input_types;
    }
}

/// Walks a trace's operators thread by thread, in time, and knows which are open.
class OpenOperators {
public:
    explicit OpenOperators(const std::vector<CpuOperator>& operators) : operators_(operators) {}

    /// The operators around a time, innermost last. Times of one thread must not go back.
    const std::vector<const CpuOperator*>& at(std::uint32_t thread, std::uint64_t time) {
        while (next_ < operators_.size() &&
               std::tie(operators_[next_].thread, operators_[next_].start) <=
                   std::tie(thread, time)) {
            open_.push_back(&operators_[next_]);
            ++next_;
            // Keeps the stack as deep as the nesting, also while nobody asks.
            while (open_.size() > 1 && ended(*open_[open_.size() - 2], *open_.back()))
                open_.erase(open_.end() - 2);
        }
        open_.erase(
            std::remove_if(
                open_.begin(),
                open_.end(),
                [&](const CpuOperator* op) { return op->thread != thread || op->end < time; }),
            open_.end());
        return open_;
    }

private:
    static bool ended(const CpuOperator& before, const CpuOperator& now) {
        return before.thread != now.thread || before.end < now.start;
    }

    const std::vector<CpuOperator>& operators_;
    std::size_t next_ = 0;
    std::vector<const CpuOperator*> open_;
};

void find_for_gpu(RawTrace& raw, const std::vector<CpuOperator>& operators) {
    std::vector<RawGpuEvent*> launched;
    for (RawGpuEvent& gpu : raw.gpu)
        if (gpu.has_launch)
            launched.push_back(&gpu);
    std::sort(launched.begin(), launched.end(), [](const RawGpuEvent* a, const RawGpuEvent* b) {
        return std::tie(a->launch_thread, a->launch) < std::tie(b->launch_thread, b->launch);
    });
    OpenOperators open(operators);
    for (RawGpuEvent* gpu : launched) {
        const auto& around = open.at(gpu->launch_thread, gpu->launch);
        if (around.empty())
            continue;
        take(*gpu, *around.back());
        if (gpu->work == GpuWork::kCommunication)
            for (auto op = around.rbegin(); op != around.rend(); ++op)
                take_collective(*gpu, **op);
    }
}

void find_by_external_id(RawTrace& raw, const std::vector<CpuOperator>& operators) {
    std::unordered_map<std::uint64_t, const CpuOperator*> by_id;
    for (const CpuOperator& op : operators)
        if (op.external_id)
            by_id.emplace(*op.external_id, &op);
    for (RawGpuEvent& gpu : raw.gpu) {
        const auto& id = gpu.event.external_id;
        if (!gpu.launching_op.empty() || !id || id == gpu.event.correlation)
            continue;
        const auto found = by_id.find(*id);
        if (found == by_id.end())
            continue;
        take(gpu, *found->second);
        if (gpu.work == GpuWork::kCommunication)
            take_collective(gpu, *found->second);
    }
}

/// record_param_comms stands around waiting for a collective as well as around issuing one: what
/// tells them apart is that issuing launches its kernel.
void mark_issuing_waits(RawTrace& raw, const std::vector<CpuOperator>& operators) {
    std::map<std::uint32_t, std::vector<std::uint64_t>> launches;  // of collectives, by thread
    for (const RawGpuEvent& gpu : raw.gpu)
        if (gpu.work == GpuWork::kCommunication && gpu.has_launch)
            launches[gpu.launch_thread].push_back(gpu.launch);
    for (auto& [thread, times] : launches)
        std::sort(times.begin(), times.end());
    const auto launches_within = [&](const CpuOperator& op) {
        const auto& times = launches[op.thread];
        const auto first = std::lower_bound(times.begin(), times.end(), op.start);
        return first != times.end() && *first <= op.end;
    };
    OpenOperators open(operators);
    for (StreamWait& wait : raw.waits) {
        const auto& around = open.at(wait.thread, wait.start);
        const auto innermost =
            std::find_if(around.rbegin(), around.rend(), [](const CpuOperator* op) {
                return issues_collective(*op);
            });
        wait.issues_collective = innermost != around.rend() && launches_within(**innermost);
    }
}

}  // namespace

void find_launching_operators(RawTrace& raw, std::vector<CpuOperator>& operators) {
    std::sort(operators.begin(), operators.end(), [](const CpuOperator& a, const CpuOperator& b) {
        return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
    });
    find_for_gpu(raw, operators);
    find_by_external_id(raw, operators);
    std::sort(raw.waits.begin(), raw.waits.end(), [](const StreamWait& a, const StreamWait& b) {
        return std::tie(a.thread, a.start) < std::tie(b.thread, b.start);
    });
    mark_issuing_waits(raw, operators);
}

void order_launches(RawTrace& raw) {
    const bool any_launch = std::any_of(
        raw.gpu.begin(), raw.gpu.end(), [](const RawGpuEvent& gpu) { return gpu.has_launch; });
    if (any_launch) {
        std::uint64_t first = UINT64_MAX;
        for (const RawGpuEvent& gpu : raw.gpu)
            if (gpu.has_launch)
                first = std::min(first, gpu.event.start);
        const auto left_over = [&](const RawGpuEvent& gpu) {
            return !gpu.has_launch && gpu.event.start < first;
        };
        for (const RawGpuEvent& gpu : raw.gpu)
            if (left_over(gpu)) {
                std::uint64_t& busy = raw.busy_before[gpu.event.stream];
                busy = std::max(busy, gpu.event.start + gpu.event.duration);
            }
        const auto kept = std::remove_if(raw.gpu.begin(), raw.gpu.end(), left_over);
        const auto dropped = static_cast<std::uint64_t>(raw.gpu.end() - kept);
        if (dropped > 0)
            raw.report.dropped["GPU operations launched before the trace began"] = dropped;
        raw.gpu.erase(kept, raw.gpu.end());
    }
    // Events are large: only their order is sorted, and each is moved once.
    std::vector<std::size_t> order(raw.gpu.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return raw.gpu[a].event.start < raw.gpu[b].event.start;
    });
    std::map<std::string_view, std::uint64_t> next_launch;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
        RawGpuEvent& gpu = raw.gpu[*i];
        const auto [next, last] = next_launch.try_emplace(gpu.event.stream, UINT64_MAX);
        static_cast<void>(last);
        gpu.launch = std::min({gpu.launch, gpu.event.start, next->second});
        next->second = gpu.launch;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return raw.gpu[a].launch < raw.gpu[b].launch;
    });
    std::vector<RawGpuEvent> sorted;
    sorted.reserve(order.size());
    for (const std::size_t i : order)
        sorted.push_back(std::move(raw.gpu[i]));
    raw.gpu = std::move(sorted);
}

}  // namespace switchfold

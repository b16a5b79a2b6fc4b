// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/launching.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace switchfold {

namespace {

/// Which operators issue collectives, and what of them the GPU events take.
class Operators {
public:
    Operators(RawTrace& raw, const std::vector<CpuOperator>& calls) :
        raw_(raw), calls_(calls), issues_(raw.operator_kinds.size()) {
        for (std::uint32_t kind = 0; kind < issues_.size(); ++kind) {
            const std::string_view name = raw.texts[raw.operator_kinds[kind].name];
            issues_[kind] = name.starts_with("nccl:") || name.starts_with("c10d::") ||
                            name == "record_param_comms";
        }
    }
    [[nodiscard]] bool issues_collective(const CpuOperator& op) const { return issues_[op.kind]; }

    void take(RawGpuEvent& gpu, const CpuOperator& op) const {
        gpu.op = op.kind;
        gpu.call = static_cast<std::uint32_t>(&op - calls_.data());
    }
    void take_collective(const RawGpuEvent& gpu, const CpuOperator& op) const {
        if (!issues_collective(op))
            return;
        const OperatorKind& kind = raw_.operator_kinds[op.kind];
        CollectiveDetails& details = raw_.collectives[gpu.details];
        if (details.call == 0 && raw_.texts[kind.name] != "record_param_comms")
            details.call = kind.name;
        const bool names_tensor =
            raw_.texts[kind.input_dims].find_first_of("123456789") != std::string_view::npos;
        if (details.call_dims == 0 && names_tensor) {
            details.call_dims = kind.input_dims;
            details.call_types = kind.input_types;
        }
    }

private:
    RawTrace& raw_;
    const std::vector<CpuOperator>& calls_;
    std::vector<bool> issues_;  ///< by kind
};

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

void find_for_gpu(
    RawTrace& raw, const std::vector<CpuOperator>& calls, const Operators& operators) {
    std::vector<std::uint32_t> launched;
    for (std::uint32_t i = 0; i < raw.gpu.size(); ++i)
        if (raw.gpu[i].has_launch)
            launched.push_back(i);
    std::sort(launched.begin(), launched.end(), [&raw](std::uint32_t a, std::uint32_t b) {
        return std::tie(raw.gpu[a].launch_thread, raw.gpu[a].launch) <
               std::tie(raw.gpu[b].launch_thread, raw.gpu[b].launch);
    });
    OpenOperators open(calls);
    for (const std::uint32_t i : launched) {
        RawGpuEvent& gpu = raw.gpu[i];
        const auto& around = open.at(gpu.launch_thread, gpu.launch);
        if (around.empty())
            continue;
        operators.take(gpu, *around.back());
        if (gpu.work == GpuWork::kCommunication)
            for (auto op = around.rbegin(); op != around.rend(); ++op)
                operators.take_collective(gpu, **op);
    }
}

void find_by_external_id(
    RawTrace& raw,
    const std::vector<CpuOperator>& calls,
    const Operators& operators,
    const std::vector<std::uint64_t>& external_ids) {
    const auto wants_one = [&](std::size_t i) {
        return raw.gpu[i].op == RawGpuEvent::kNone && external_ids[i] != CpuOperator::kNoId;
    };
    std::unordered_map<std::uint64_t, const CpuOperator*> by_id;
    for (std::size_t i = 0; i < raw.gpu.size(); ++i)
        if (wants_one(i))
            by_id.emplace(external_ids[i], nullptr);
    for (const CpuOperator& op : calls)
        if (const auto wanted = by_id.find(op.external_id);
            wanted != by_id.end() && wanted->second == nullptr)
            wanted->second = &op;
    for (std::size_t i = 0; i < raw.gpu.size(); ++i) {
        const CpuOperator* const op = wants_one(i) ? by_id.at(external_ids[i]) : nullptr;
        if (op == nullptr)
            continue;
        operators.take(raw.gpu[i], *op);
        if (raw.gpu[i].work == GpuWork::kCommunication)
            operators.take_collective(raw.gpu[i], *op);
    }
}

/// record_param_comms stands around waiting for a collective as well as around issuing one: what
/// tells them apart is that issuing launches its kernel.
void mark_issuing_waits(
    RawTrace& raw, const std::vector<CpuOperator>& calls, const Operators& operators) {
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
    OpenOperators open(calls);
    for (StreamWait& wait : raw.waits) {
        const auto& around = open.at(wait.thread, wait.start);
        const auto innermost =
            std::find_if(around.rbegin(), around.rend(), [&operators](const CpuOperator* op) {
                return operators.issues_collective(*op);
            });
        wait.issues_collective = innermost != around.rend() && launches_within(**innermost);
    }
}

}  // namespace

void find_launching_operators(
    RawTrace& raw,
    std::vector<CpuOperator>& operators,
    const std::vector<std::uint64_t>& external_ids) {
    std::sort(operators.begin(), operators.end(), [](const CpuOperator& a, const CpuOperator& b) {
        return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
    });
    const Operators kinds(raw, operators);
    find_for_gpu(raw, operators, kinds);
    find_by_external_id(raw, operators, kinds, external_ids);
    std::sort(raw.waits.begin(), raw.waits.end(), [](const StreamWait& a, const StreamWait& b) {
        return std::tie(a.thread, a.start) < std::tie(b.thread, b.start);
    });
    mark_issuing_waits(raw, operators, kinds);
}

void order_launches(RawTrace& raw) {
    const bool any_launch = std::any_of(
        raw.gpu.begin(), raw.gpu.end(), [](const RawGpuEvent& gpu) { return gpu.has_launch; });
    if (any_launch) {
        std::uint64_t first = UINT64_MAX;
        for (const RawGpuEvent& gpu : raw.gpu)
            if (gpu.has_launch)
                first = std::min(first, gpu.start);
        const auto left_over = [&](const RawGpuEvent& gpu) {
            return !gpu.has_launch && gpu.start < first;
        };
        for (const RawGpuEvent& gpu : raw.gpu)
            if (left_over(gpu)) {
                std::uint64_t& busy = raw.busy_before[gpu.stream];
                busy = std::max(busy, gpu.end());
            }
        const auto kept = std::remove_if(raw.gpu.begin(), raw.gpu.end(), left_over);
        const auto dropped = static_cast<std::uint64_t>(raw.gpu.end() - kept);
        if (dropped > 0)
            raw.report.dropped["GPU operations launched before the trace began"] = dropped;
        raw.gpu.erase(kept, raw.gpu.end());
    }
    std::stable_sort(
        raw.gpu.begin(), raw.gpu.end(), [](const RawGpuEvent& a, const RawGpuEvent& b) {
            return a.start < b.start;
        });
    std::vector<std::uint64_t> next_launch(raw.streams.size(), UINT64_MAX);
    for (auto gpu = raw.gpu.rbegin(); gpu != raw.gpu.rend(); ++gpu) {
        std::uint64_t& next = next_launch[gpu->stream];
        gpu->launch = next = std::min({gpu->launch, gpu->start, next});
    }
    std::stable_sort(
        raw.gpu.begin(), raw.gpu.end(), [](const RawGpuEvent& a, const RawGpuEvent& b) {
            return a.launch < b.launch;
        });
}

}  // namespace switchfold

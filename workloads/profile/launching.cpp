// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/launching.h"

#include "core/big_sort.h"
#include "workloads/profile/group_of_call.h"
#include "workloads/profile/stream_overlap.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace switchfold {

namespace {

/// Knows which operators issue collectives and what GPU events take over from them.
class Operators {
public:
    Operators(RawTrace& raw, const BigVector<CpuOperator>& calls) :
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
    void take_collective(RawGpuEvent& gpu, const CpuOperator& op) const {
        if (!issues_collective(op))
            return;
        const OperatorKind& kind = raw_.operator_kinds[op.kind];
        CollectiveDetails& details = raw_.collectives[gpu.details];
        if (gpu.issuer == RawGpuEvent::kNone)
            gpu.issuer = static_cast<std::uint32_t>(&op - calls_.data());
        if (kind.communication != 0 && details.name == 0)
            take_call(raw_.calls[kind.communication - 1], details);
        if (details.call == 0 && raw_.texts[kind.name] != "record_param_comms")
            details.call = kind.name;
        if (details.group_name == 0 && details.group_ranks == 0 && details.group_size == 0) {
            details.group_name = kind.group_name;
            details.group_ranks = kind.group_ranks;
            details.group_size =
                kind.group_size != 0 ? kind.group_size : members_of_call(raw_, kind);
        }
        const bool names_tensor =
            raw_.texts[kind.input_dims].find_first_of("123456789") != std::string_view::npos;
        if (details.call_dims == 0 && names_tensor) {
            details.call_dims = kind.input_dims;
            details.call_types = kind.input_types;
        }
    }

private:
    static void take_call(const CommunicationCall& call, CollectiveDetails& details) {
        details.name = call.name;
        details.datatype = call.datatype;
        details.in_elements = call.in_elements;
        details.out_elements = call.out_elements;
        details.in_splits = call.in_splits;
        details.out_splits = call.out_splits;
        details.to_rank = call.to_rank;
        details.from_rank = call.from_rank;
    }

    RawTrace& raw_;
    const BigVector<CpuOperator>& calls_;
    std::vector<bool> issues_;  ///< by kind
};

/// Walks a trace's operators thread by thread in time order and tracks those that are open.
class OpenOperators {
public:
    explicit OpenOperators(const BigVector<CpuOperator>& operators) : operators_(operators) {}

    /// The operators open at `time`, innermost last. Times of one thread must not decrease.
    const std::vector<const CpuOperator*>& at(std::uint32_t thread, std::uint64_t time) {
        while (next_ < operators_.size() &&
               std::tie(operators_[next_].thread, operators_[next_].start) <=
                   std::tie(thread, time)) {
            open_.push_back(&operators_[next_]);
            operators_.forget_at(next_++);
            // Keeps the stack no deeper than the nesting, even between queries.
            while (open_.size() > 1 && ended(*open_[open_.size() - 2], *open_.back()))
                open_.erase(open_.end() - 2);
        }
        open_.erase(
            std::remove_if(
                open_.begin(), open_.end(),
                [&](const CpuOperator* op) { return op->thread != thread || op->end < time; }),
            open_.end());
        return open_;
    }

private:
    static bool ended(const CpuOperator& before, const CpuOperator& now) {
        return before.thread != now.thread || before.end < now.start;
    }

    const BigVector<CpuOperator>& operators_;
    std::size_t next_ = 0;
    std::vector<const CpuOperator*> open_;
};

void find_for_gpu(RawTrace& raw, const BigVector<CpuOperator>& calls, const Operators& operators) {
    struct Launched {
        std::uint64_t launch;
        std::uint32_t thread;
        std::uint32_t index;
    };
    BigVector<Launched> launched;
    std::uint32_t index = 0;
    for (const RawGpuEvent& gpu : raw.gpu.pass()) {
        if (gpu.has_launch)
            launched.push_back({gpu.launch, gpu.launch_thread, index});
        ++index;
    }
    big_sort(launched, [](const Launched& a, const Launched& b) {
        return std::tie(a.thread, a.launch) < std::tie(b.thread, b.launch);
    });
    OpenOperators open(calls);
    std::size_t looked_at = 0;
    for (const Launched& one : launched.pass()) {
        raw.gpu.forget_at(looked_at++);
        RawGpuEvent& gpu = raw.gpu[one.index];
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
    RawTrace& raw, const BigVector<CpuOperator>& calls, const Operators& operators,
    const BigVector<std::uint64_t>& external_ids) {
    struct Wanted {
        std::uint64_t id;
        std::uint32_t index;  ///< of the GPU event
        bool found;           ///< on the first entry of an id: whether all its entries are resolved
    };
    BigVector<Wanted> wanted;
    std::uint32_t index = 0;
    for (const RawGpuEvent& gpu : raw.gpu.pass()) {
        external_ids.forget_at(index);
        if (gpu.op == RawGpuEvent::kNone && external_ids[index] != CpuOperator::kNoId)
            wanted.push_back({external_ids[index], index, false});
        ++index;
    }
    if (wanted.empty())
        return;
    big_sort(wanted, [](const Wanted& a, const Wanted& b) { return a.id < b.id; });
    std::size_t asked = 0;
    for (const CpuOperator& op : calls.pass()) {
        wanted.forget_at(asked);
        raw.gpu.forget_at(asked++);
        Wanted* one = std::lower_bound(
            wanted.begin(), wanted.end(), op.external_id,
            [](const Wanted& w, std::uint64_t id) { return w.id < id; });
        if (one == wanted.end() || one->id != op.external_id || one->found)
            continue;
        one->found = true;
        for (; one != wanted.end() && one->id == op.external_id; ++one) {
            RawGpuEvent& gpu = raw.gpu[one->index];
            operators.take(gpu, op);
            if (gpu.work == GpuWork::kCommunication)
                operators.take_collective(gpu, op);
        }
    }
}

/// record_param_comms encloses waiting for a collective as well as issuing one; only issuing
/// launches its kernel.
void mark_issuing_waits(
    RawTrace& raw, const BigVector<CpuOperator>& calls, const Operators& operators) {
    std::map<std::uint32_t, std::vector<std::uint64_t>> launches;  // of collectives, by thread
    for (const RawGpuEvent& gpu : raw.gpu.pass())
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
    for (StreamWait& wait : raw.waits.pass()) {
        const auto& around = open.at(wait.thread, wait.start);
        const auto innermost =
            std::find_if(around.rbegin(), around.rend(), [&operators](const CpuOperator* op) {
                return operators.issues_collective(*op);
            });
        wait.issues_collective = innermost != around.rend() && launches_within(**innermost);
    }
}

/// Drops GPU events without a launch that precede all launched ones: they were launched before the
/// trace began.
void drop_left_over(RawTrace& raw) {
    std::uint64_t first = UINT64_MAX;
    bool any_launch = false;
    for (const RawGpuEvent& gpu : raw.gpu.pass())
        if (gpu.has_launch) {
            first = std::min(first, gpu.start);
            any_launch = true;
        }
    if (!any_launch)
        return;
    std::size_t kept = 0;
    for (const RawGpuEvent& gpu : raw.gpu.pass()) {
        if (gpu.has_launch || gpu.start >= first) {
            raw.gpu[kept++] = gpu;
            continue;
        }
        std::uint64_t& busy = raw.busy_before[gpu.stream];
        busy = std::max(busy, gpu.end());
    }
    if (kept < raw.gpu.size())
        raw.report.dropped["GPU operations launched before the trace began"] =
            raw.gpu.size() - kept;
    raw.gpu.shrink(kept);
}

}  // namespace

void find_launching_operators(
    RawTrace& raw, BigVector<CpuOperator>& operators,
    const BigVector<std::uint64_t>& external_ids) {
    big_sort(operators, [](const CpuOperator& a, const CpuOperator& b) {
        return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
    });
    const Operators kinds(raw, operators);
    find_for_gpu(raw, operators, kinds);
    find_by_external_id(raw, operators, kinds, external_ids);
    big_sort(raw.waits, [](const StreamWait& a, const StreamWait& b) {
        return std::tie(a.thread, a.start) < std::tie(b.thread, b.start);
    });
    mark_issuing_waits(raw, operators, kinds);
}

void order_launches(RawTrace& raw) {
    drop_left_over(raw);
    big_sort(raw.gpu, [](const RawGpuEvent& a, const RawGpuEvent& b) { return a.start < b.start; });
    part_overlapping(raw);
    std::vector<std::uint64_t> next_launch(raw.streams.size(), UINT64_MAX);
    std::map<std::uint32_t, std::uint64_t> graph_after;  // end of the graph's call, by thread
    for (std::size_t i = raw.gpu.size(); i-- > 0;) {
        raw.gpu.forget_at(i);
        RawGpuEvent& gpu = raw.gpu[i];
        if (gpu.of_graph) {
            const auto [after, last] = graph_after.try_emplace(gpu.launch_thread, gpu.launch_end);
            gpu.inside_graph = !last && after->second == gpu.launch_end;
            after->second = gpu.launch_end;
        }
        std::uint64_t& next = next_launch[gpu.stream];
        gpu.launch = next = std::min({gpu.launch, gpu.start, next});
    }
    big_sort(
        raw.gpu, [](const RawGpuEvent& a, const RawGpuEvent& b) { return a.launch < b.launch; });
}

}  // namespace switchfold

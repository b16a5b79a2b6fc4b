// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/raw_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// Numbers that are the same for two runs if their identity_of() is.
struct Identity {
    std::uint32_t task = 0;
    Texts::Id op = 0;
    Texts::Id input_dims = 0;
    std::uint64_t thread = 0;
    Identity(const RawTrace& raw, const RawGpuEvent& gpu) :
        task(gpu.task), thread(gpu.has_launch ? 1 + std::uint64_t{gpu.launch_thread} : 0) {
        if (gpu.op == RawGpuEvent::kNone)
            return;
        op = raw.operator_kinds[gpu.op].name;
        input_dims = raw.operator_kinds[gpu.op].input_dims;
    }
    [[nodiscard]] std::array<std::uint64_t, 4> parts() const {
        return {task, op, input_dims, thread};
    }
};

/// One run of a kernel.
struct Occurrence {
    std::uint32_t raw = 0;
    std::uint32_t ordinal = 0;  ///< within its step, among its like
    bool alone = false;
};

/// All runs of one kernel.
struct Occurrences {
    std::vector<Occurrence> runs;
    std::map<std::uint32_t, std::uint32_t> per_step;

    /// Whether each step ran it as often: then equal ordinals are the same kernel of the same
    /// layer.
    [[nodiscard]] bool even() const {
        return std::all_of(per_step.begin(), per_step.end(), [this](const auto& entry) {
            return entry.second == per_step.begin()->second;
        });
    }
};

/// How long the runs of one kernel took that were alone.
class AloneDurations {
public:
    AloneDurations(const RawTrace& raw, const Occurrences& kernel) {
        const bool even = kernel.even();
        for (const Occurrence& run : kernel.runs)
            if (run.alone) {
                const std::uint64_t duration = raw.gpu[run.raw].duration;
                all_.push_back(duration);
                if (even)
                    by_ordinal_.emplace_back(run.ordinal, duration);
            }
        std::sort(all_.begin(), all_.end());
        std::sort(by_ordinal_.begin(), by_ordinal_.end());
    }

    /// The same kernel of the same layer first; any if no step ran that one alone.
    [[nodiscard]] std::optional<std::uint64_t> median(std::uint32_t ordinal) const {
        const auto from = std::lower_bound(
            by_ordinal_.begin(), by_ordinal_.end(), std::pair(ordinal, std::uint64_t{0}));
        const auto to = std::upper_bound(from, by_ordinal_.end(), std::pair(ordinal, UINT64_MAX));
        if (from != to)
            return middle(static_cast<std::size_t>(to - from), [from](std::size_t i) {
                return from[static_cast<std::ptrdiff_t>(i)].second;
            });
        if (all_.empty())
            return std::nullopt;
        return middle(all_.size(), [this](std::size_t i) { return all_[i]; });
    }

private:
    template <class Sorted>
    static std::uint64_t middle(std::size_t count, Sorted at) {
        const std::size_t half = count / 2;
        return count % 2 == 1 ? at(half) : at(half - 1) + (at(half) - at(half - 1)) / 2;
    }
    std::vector<std::uint64_t> all_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> by_ordinal_;
};

void set_durations(
    const RawTrace& raw,
    RankGraph& graph,
    const std::vector<std::uint32_t>& operation_of,
    const Occurrences& kernel) {
    std::optional<AloneDurations> alone;  // few kernels need it
    for (const Occurrence& run : kernel.runs) {
        auto& operation = std::get<KernelOperation>(graph.operations[operation_of[run.raw]].body);
        operation.measured = operation.isolated = Time(raw.gpu[run.raw].duration);
        operation.duration_source = DurationSource::kMeasuredAlone;
        if (run.alone)
            continue;
        if (!alone)
            alone.emplace(raw, kernel);
        const std::optional<std::uint64_t> median = alone->median(run.ordinal);
        operation.isolated = median ? Time(*median) : operation.measured;
        operation.duration_source =
            median ? DurationSource::kOtherOccurrence : DurationSource::kMeasuredOverlapped;
    }
}

/// A synthetic trace's durations are those of kernels alone, whatever runs beside them.
void take_modelled_durations(
    const RawTrace& raw, RankGraph& graph, const std::vector<std::uint32_t>& operation_of) {
    for (std::size_t i = 0; i < raw.gpu.size(); ++i)
        if (auto* kernel = std::get_if<KernelOperation>(&graph.operations[operation_of[i]].body)) {
            kernel->measured = Time(raw.gpu[i].duration);
            kernel->isolated = kernel->measured;
            kernel->duration_source = DurationSource::kModel;
        }
}

}  // namespace

std::string identity_of(const RawTrace& raw, const RawGpuEvent& gpu) {
    const GpuTask& task = raw.tasks[gpu.task];
    const OperatorKind op =
        gpu.op == RawGpuEvent::kNone ? OperatorKind{} : raw.operator_kinds[gpu.op];
    return fmt::format(
        "{}|{},{},{}|{},{},{}|{}|{}|{}|{}|{}",
        raw.texts[task.name],
        task.grid.x,
        task.grid.y,
        task.grid.z,
        task.block.x,
        task.block.y,
        task.block.z,
        task.shared_memory,
        task.registers_per_thread,
        raw.texts[op.name],
        raw.texts[op.input_dims],
        gpu.has_launch ? fmt::format("{}", gpu.launch_thread) : "");
}

void set_isolated_durations(
    const RawTrace& raw, RankGraph& graph, const std::vector<std::uint32_t>& operation_of) {
    if (raw.report.synthetic) {
        take_modelled_durations(raw, graph, operation_of);
        return;
    }
    Distinct<Identity> identities;
    std::vector<Occurrences> kernels;  // by identity
    for (std::uint32_t i = 0; i < raw.gpu.size(); ++i) {
        const RawGpuEvent& gpu = raw.gpu[i];
        const Operation& operation = graph.operations[operation_of[i]];
        if (!std::holds_alternative<KernelOperation>(operation.body))
            continue;
        const std::uint32_t identity = identities.add(Identity(raw, gpu));
        if (identity == kernels.size())
            kernels.emplace_back();
        Occurrences& kernel = kernels[identity];
        kernel.runs.push_back(
            {i,
             kernel.per_step[operation.step]++,
             covered(raw.communication, gpu.start, gpu.end()) == 0});
    }
    for (const Occurrences& kernel : kernels)
        set_durations(raw, graph, operation_of, kernel);
}

}  // namespace switchfold

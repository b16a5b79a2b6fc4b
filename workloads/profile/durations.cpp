// SPDX-License-Identifier: Apache-2.0
#include "core/big_sort.h"
#include "workloads/profile/raw_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <vector>

namespace switchfold {

namespace {

/// Numbers that are equal for two runs if and only if their identity_of() is equal.
struct Identity {
    std::uint32_t task = 0;
    StringInterner::Id op = 0;
    StringInterner::Id input_dims = 0;
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

/// One run of a kernel. Runs with equal identity and ordinal are the same kernel of the same layer
/// in different steps.
struct Run {
    std::uint32_t kernel = 0;
    std::uint32_t ordinal = 0;  ///< index within its step among runs of equal identity
    std::uint64_t duration = 0;
};

/// Counts the runs of one kernel per step; steps arrive in order.
class Count {
public:
    /// \returns how many earlier runs this step has.
    std::uint32_t add(std::uint32_t step) {
        if (step != step_ && here_ > 0)
            end_step();
        step_ = step;
        return here_++;
    }
    /// After the last run: whether all steps that ran the kernel ran it equally often.
    [[nodiscard]] bool even() const { return even_ && (first_ == 0 || here_ == first_); }

private:
    void end_step() {
        even_ = even();
        first_ = first_ == 0 ? here_ : first_;
        here_ = 0;
    }
    std::uint32_t step_ = 0;
    std::uint32_t here_ = 0;
    std::uint32_t first_ = 0;  ///< runs in the first step with any; 0 while that step lasts
    bool even_ = true;
};

/// All kernels of a trace and their runs.
class Kernels {
public:
    explicit Kernels(const RawTrace& raw) : raw_(raw) {}

    void add(std::uint32_t raw, std::uint32_t step) {
        const RawGpuEvent& gpu = raw_.gpu[raw];
        const std::uint32_t kernel = identities_.add(Identity(raw_, gpu));
        if (kernel == counts_.size()) {
            counts_.emplace_back();
            beside_.push_back(false);
        }
        const Run run{kernel, counts_[kernel].add(step), gpu.duration};
        if (covered(raw_.communication, gpu.start, gpu.end()) == 0) {
            alone_.push_back(run);
        } else {
            overlapped_.push_back({run, raw});
            beside_[kernel] = true;
        }
    }

    /// Calls `set(raw, median)` for each run beside communication, with the median duration of the
    /// kernel's runs alone, or nothing if there is none.
    template <class Set>
    void finish(Set set) {
        sort_alone();
        std::size_t i = 0;
        for (const Overlapped& one : overlapped_.pass()) {
            by_ordinal_.forget_at(i);
            by_duration_.forget_at(i++);
            set(one.raw, median(one.run));
        }
    }

private:
    struct Overlapped {
        Run run;
        std::uint32_t raw = 0;
    };

    /// Only kernels that also overlapped communication need an isolated duration.
    void sort_alone() {
        for (const Run& run : alone_.pass()) {
            if (!beside_[run.kernel])
                continue;
            by_duration_.push_back(run);
            if (counts_[run.kernel].even())
                by_ordinal_.push_back(run);
        }
        alone_.clear();
        big_sort(by_duration_, [](const Run& a, const Run& b) {
            return std::tie(a.kernel, a.duration) < std::tie(b.kernel, b.duration);
        });
        big_sort(by_ordinal_, [](const Run& a, const Run& b) {
            return std::tie(a.kernel, a.ordinal, a.duration) <
                   std::tie(b.kernel, b.ordinal, b.duration);
        });
    }

    /// Median of the same kernel in the same layer, or else of the kernel in any layer. In the
    /// latter case a median above the overlapped run is rejected: nothing runs faster beside
    /// communication than alone, so those layers do different work.
    [[nodiscard]] std::optional<std::uint64_t> median(const Run& run) const {
        const auto same = std::equal_range(
            by_ordinal_.begin(), by_ordinal_.end(), run, [](const Run& a, const Run& b) {
                return std::tie(a.kernel, a.ordinal) < std::tie(b.kernel, b.ordinal);
            });
        if (same.first != same.second)
            return middle(same.first, same.second);
        const auto any = std::equal_range(
            by_duration_.begin(), by_duration_.end(), run,
            [](const Run& a, const Run& b) { return a.kernel < b.kernel; });
        if (any.first == any.second)
            return std::nullopt;
        const std::uint64_t others = middle(any.first, any.second);
        return others <= run.duration ? std::optional(others) : std::nullopt;
    }

    static std::uint64_t middle(const Run* from, const Run* to) {
        const std::ptrdiff_t half = (to - from) / 2;
        const std::uint64_t upper = from[half].duration;
        if ((to - from) % 2 == 1)
            return upper;
        const std::uint64_t lower = from[half - 1].duration;
        return lower + (upper - lower) / 2;
    }

    const RawTrace& raw_;
    Distinct<Identity> identities_;
    std::vector<Count> counts_;  ///< by identity
    std::vector<bool> beside_;   ///< by identity: whether it ever ran beside communication
    BigVector<Run> alone_;
    BigVector<Overlapped> overlapped_;
    BigVector<Run> by_ordinal_;   ///< runs from alone_, for kernels whose ordinals identify layers
    BigVector<Run> by_duration_;  ///< runs from alone_
};

/// Calls `visit(raw, operation, kernel)` for each kernel, with the index of its event.
template <class Visit>
void each_kernel(
    const RawTrace& raw, RankGraph& graph, const BigVector<std::uint32_t>& operation_of,
    Visit visit) {
    for (std::uint32_t i = 0; i < raw.gpu.size(); ++i) {
        raw.gpu.forget_at(i);
        operation_of.forget_at(i);
        graph.operations.forget_at(i);
        Operation& operation = graph.operations[operation_of[i]];
        if (auto* kernel = std::get_if<KernelOperation>(&operation.body))
            visit(i, operation, *kernel);
    }
}

}  // namespace

std::string identity_of(const RawTrace& raw, const RawGpuEvent& gpu) {
    const GpuTask& task = raw.tasks[gpu.task];
    const OperatorKind op =
        gpu.op == RawGpuEvent::kNone ? OperatorKind{} : raw.operator_kinds[gpu.op];
    return fmt::format(
        "{}|{},{},{}|{},{},{}|{}|{}|{}|{}|{}", raw.texts[task.name], task.grid.x, task.grid.y,
        task.grid.z, task.block.x, task.block.y, task.block.z, task.shared_memory,
        task.registers_per_thread, raw.texts[op.name], raw.texts[op.input_dims],
        gpu.has_launch ? fmt::format("{}", gpu.launch_thread) : "");
}

void set_isolated_durations(
    const RawTrace& raw, RankGraph& graph, const BigVector<std::uint32_t>& operation_of) {
    Kernels kernels(raw);
    each_kernel(
        raw, graph, operation_of, [&](std::uint32_t i, const Operation& operation, auto& kernel) {
            kernel.measured = kernel.isolated = Time(raw.gpu[i].duration);
            // A synthetic trace states isolated durations, even of overlapped kernels; a
            // simulation's timeline does not.
            const bool isolated = raw.report.synthetic && !raw.report.simulated;
            kernel.duration_source =
                isolated ? DurationSource::kModel : DurationSource::kMeasuredAlone;
            if (!isolated)
                kernels.add(i, operation.step);
        });
    BigVector<Operation>::Skipping skipping(graph.operations);
    kernels.finish([&](std::uint32_t i, const std::optional<std::uint64_t>& median) {
        skipping.at(operation_of[i]);
        auto& kernel = std::get<KernelOperation>(graph.operations[operation_of[i]].body);
        kernel.isolated = median ? Time(*median) : kernel.measured;
        kernel.duration_source =
            median ? DurationSource::kOtherOccurrence : DurationSource::kMeasuredOverlapped;
    });
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/event.h"
#include "workloads/profile/event_kind.h"
#include "workloads/profile/execution_trace.h"
#include "workloads/profile/launch_calls.h"
#include "workloads/profile/raw_trace.h"
#include "workloads/profile/tally.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace switchfold {

/// Builds a RawTrace from a profiler's events: kernels, copies, runtime calls, operators and
/// ranges, in Kineto's categories and in any order. The trace's report counts what was used and
/// what was dropped.
class EventCollector {
public:
    explicit EventCollector(RawTrace& raw) : raw_(raw) {}

    void add(const TraceEvent& event);
    /// Limits the trace to GPU operations of one device.
    void only_device(std::uint64_t device) { only_device_ = device; }
    /// Limits the steps to those with these numbers; empty: all.
    void only_steps(std::vector<std::int64_t> numbers) { only_steps_ = std::move(numbers); }
    /// Kernels by device, over all devices. Copies do not count: a process may touch other GPUs.
    [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& kernels_by_device() const {
        return kernels_by_device_;
    }
    /// Processes that launched kernels, as the trace names them.
    [[nodiscard]] const std::set<std::string>& processes() const { return processes_; }
    /// Categories of calls of other runtimes than CUDA's and HIP's.
    [[nodiscard]] const std::set<std::string>& other_runtimes() const { return other_runtimes_; }
    /// Adds shapes to operators without them; call after the last event. Throws ConfigError if the
    /// execution trace is from another run.
    void take_shapes(const ExecutionTrace& trace);
    /// Call after the last event. Throws ConfigError if there was no kernel.
    void finish();

private:
    static constexpr std::uint64_t kNoId = CpuOperator::kNoId;

    /// Identifies a stream in events.
    struct StreamKey {
        std::uint64_t device = 0;
        bool has_device = false;
        StringInterner::Id text = 0;
        [[nodiscard]] std::array<std::uint64_t, 3> parts() const {
            return {device, has_device ? 1U : 0U, text};
        }
    };

    void add_gpu(const TraceEvent& event, GpuWork work);
    std::uint32_t details_of(const TraceEvent& event, GpuWork work);
    std::uint32_t stream_of(const TraceEvent& event);
    [[nodiscard]] EventKind kind_of(const TraceEvent& event);
    std::uint32_t thread_of(const TraceEvent& event);
    void add_memory(const TraceEvent& event);
    void take_memory();
    void add_call(const TraceEvent& event);
    void add_operator(const TraceEvent& event);
    void add_annotation(const TraceEvent& event);
    void keep_operator(const TraceEvent& event, StringInterner::Id name);
    std::uint32_t communication_of(const TraceEvent& event);
    /// \returns whether the name marks a phase or step.
    bool mark_phase(const TraceEvent& event, StringInterner::Id name);
    void add_mirrored_step(const TraceEvent& event);
    void take_mirrored_steps();
    void sort_streams();
    void join_launches();
    void mark_forward();
    void forget_joined(std::size_t joined) const;
    void count_events();
    void check_kernels() const;

    RawTrace& raw_;
    BigVector<CpuOperator> operators_;
    LaunchCalls launches_;
    Meanings meanings_{raw_.texts};
    BigVector<std::uint64_t> correlations_;  ///< of raw_.gpu, until joined with the launching calls
    BigVector<std::uint64_t> external_ids_;  ///< of raw_.gpu
    BigVector<std::uint64_t> elsewhere_;     ///< correlations of other devices' operations
    Distinct<StreamKey> stream_keys_;
    std::vector<std::uint32_t> streams_;  ///< index into raw_.streams, by key
    std::unordered_map<StringInterner::Id, std::uint32_t> threads_;
    std::optional<std::uint64_t> device_;
    std::optional<std::uint64_t> only_device_;
    std::vector<std::int64_t> only_steps_;
    std::map<std::uint64_t, std::uint64_t> kernels_by_device_;
    /// Most bytes handed out and reserved.
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> memory_by_device_;
    std::set<std::string> processes_;
    std::set<std::string> other_runtimes_;
    std::map<std::int64_t, RawStep> mirrored_steps_;  ///< by number
    std::string process_;                             ///< of the last event; avoids most look-ups
    std::set<std::uint32_t> differentiated_;  ///< sequence numbers that backward operators state
    Interval on_host_{UINT64_MAX, 0};         ///< from the first to the last of the host's events
    Tally used_;
    Tally dropped_;
};

}  // namespace switchfold

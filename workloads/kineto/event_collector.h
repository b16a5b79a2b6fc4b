// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kineto/raw_trace.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace switchfold {

/// Makes a RawTrace from the events of a profiler: kernels, copies, runtime calls, operators and
/// ranges, in Kineto's categories and in any order. Counts in the trace's report what it uses and
/// what it drops.
class EventCollector {
public:
    explicit EventCollector(RawTrace& raw) : raw_(raw) {}

    /// Takes what it needs out of `event`.
    void add(TraceEvent& event);
    /// After the last event, for operators without shapes. Throws ConfigError if the execution
    /// trace is of another run.
    void take_shapes(const ExecutionTrace& trace);
    /// After the last event. Throws ConfigError if there was no kernel.
    void finish();

private:
    /// What an event's category says that it is; profilers' versions spell them in several ways.
    enum class Kind : std::uint8_t {
        kKernel,
        kCopy,
        kCall,
        kOperator,
        kAnnotation,
        kMirrored,
        kPython,
        kUnknown,
    };
    static Kind classify_category(std::string_view name);
    // Traces repeat few categories and names many times.
    Kind kind_of(const TraceEvent& event);
    bool communicates(const std::string& name);

    /// A runtime or driver call that put something on the GPU.
    struct LaunchCall {
        std::uint64_t start = 0;
        std::uint64_t end = 0;
        std::uint32_t thread = 0;
        bool counts_threads = false;  ///< its grid is in threads, not in blocks
        std::optional<std::uint64_t> external_id;
        std::optional<Dim3> grid;
        std::optional<Dim3> block;
        std::uint64_t shared_memory = 0;
    };

    void drop(const char* reason) { ++raw_.report.dropped[reason]; }
    void use(const char* what) { ++raw_.report.used[what]; }
    void add_gpu(TraceEvent& event, GpuWork work);
    static void take_shape(const LaunchCall& call, TraceEvent& event);
    std::uint32_t thread_of(const TraceEvent& event);
    std::string_view text(std::string&& value);
    void add_call(const TraceEvent& event);
    void add_operator(TraceEvent& event);
    void add_annotation(TraceEvent& event);
    void keep_operator(TraceEvent& event);
    /// \returns whether the name marks a phase or a step.
    bool mark_phase(const TraceEvent& event);
    void join_launches();
    void check_kernels() const;

    RawTrace& raw_;
    std::vector<CpuOperator> operators_;
    std::unordered_map<std::uint64_t, LaunchCall> launches_;
    std::unordered_map<std::string, std::uint32_t> threads_;
    std::unordered_map<std::string, Kind> kinds_;
    std::unordered_map<std::string, bool> communicates_;
    std::optional<std::uint64_t> device_;
};

}  // namespace switchfold

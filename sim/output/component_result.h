// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// What one experiment gives. These are plain values: sim/run fills them, the writers of this
/// folder print them. An empty optional means "does not apply here" and is written as null.
/// docs/results.md says what each field means.

/// Shares of backward_slowdown, each the part that goes away when that mechanism is switched off;
/// they sum to it.
struct SlowdownByCause {
    double sm = 0;     ///< SM slots held by communication blocks
    double l2 = 0;     ///< L2 capacity lost to communication buffers
    double hbm = 0;    ///< bandwidth of L2 and HBM
    double clock = 0;  ///< lower clock under power
    double other = 0;  ///< the rest: interactions, order of execution
    bool operator==(const SlowdownByCause&) const = default;
};

struct CollectiveResult {
    std::string name;
    std::string kind;       ///< "all_reduce", "all_gather", ...
    std::string algorithm;  ///< as it ran: "ring", "tree", "in_switch"
    std::string protocol;   ///< "ll", "ll128", "simple", or empty
    std::string datatype;
    std::uint32_t ranks = 0;
    std::uint32_t thread_blocks = 0;  ///< per GPU
    Bytes size;                       ///< as nccl-tests counts it
    std::string size_source;          ///< "trace", "user", "estimated_from_duration"
    Time start;                       ///< last rank's arrival: nothing can be reduced before
    Time time;                        ///< from start to the last rank's end
    std::optional<Time> measured;     ///< in the trace, waiting for peers included
    bool operator==(const CollectiveResult&) const = default;
};
/// size / time, in GB/s; 0 for a collective that takes no time.
[[nodiscard]] double algorithm_bandwidth_gbps(const CollectiveResult& collective);
/// nccl-tests' bus bandwidth in GB/s: comparable over kinds and rank counts.
[[nodiscard]] double bus_bandwidth_gbps(const CollectiveResult& collective);

/// One direction of a link.
struct LinkResult {
    std::string name;
    Bytes bytes;             ///< payload
    Bytes wire_bytes;        ///< with headers, requests and acknowledgements
    double utilization = 0;  ///< share of the scenario's time the wire was busy
    Bytes peak_queue_bytes;  ///< most that waited in front of it
    Time blocked;            ///< time with something to send and no credit
    bool operator==(const LinkResult&) const = default;
};

struct ReductionUnitResult {
    std::string name;
    std::uint64_t reductions = 0;  ///< results sent on
    Bytes bytes;                   ///< operands added up
    std::uint64_t peak_entries = 0;
    Bytes peak_buffer_bytes;
    Time stalled;                 ///< time with a request waiting for an entry or buffer space
    std::uint64_t evictions = 0;  ///< partial sums sent on early
    std::uint64_t time_outs = 0;
    std::uint64_t fallbacks = 0;  ///< requests that had to be reduced elsewhere
    bool operator==(const ReductionUnitResult&) const = default;
};

struct MemoryResult {
    std::string name;  ///< the GPU
    Bytes kernel_bytes;
    Bytes communication_bytes;
    Bytes copy_bytes;
    double hbm_utilization = 0;  ///< share of the achievable bandwidth, over the scenario
    double l2_utilization = 0;
    double sm_utilization = 0;  ///< share of SM slots taken, over the scenario
    bool operator==(const MemoryResult&) const = default;
};

/// One replayed kernel. `name` and `kernel_class` are indices into ScenarioResult::names.
struct KernelRow {
    std::uint32_t rank = 0;
    std::uint32_t stream = 0;  ///< index into ScenarioResult::names
    std::uint32_t name = 0;
    std::uint32_t kernel_class = 0;
    Time start;
    Time duration;
    Time isolated;
    double overlapped_share =
        0;  ///< share of the duration with a collective resident on the same GPU
    bool operator==(const KernelRow&) const = default;
};

enum class SliceKind : std::uint8_t { kKernel, kCollective, kCopy, kMemset, kHost, kAnnotation };

/// Something that took time on a stream; feeds the timeline only.
struct TimelineSlice {
    SliceKind kind = SliceKind::kKernel;
    std::uint32_t rank = 0;
    std::uint32_t stream = 0;  ///< index into ScenarioResult::names
    std::uint32_t name = 0;    ///< index into ScenarioResult::names
    Time start;
    Time duration;
    std::uint64_t bytes = 0;  ///< of a copy or collective
    Time isolated;            ///< of a kernel
    bool operator==(const TimelineSlice&) const = default;
};

/// A value that holds from `at` until the next point of the same track.
struct TimelinePoint {
    std::uint32_t track = 0;  ///< index into ScenarioResult::tracks
    Time at;
    double value = 0;
    bool operator==(const TimelinePoint&) const = default;
};

struct TimelineTrack {
    std::string name;                   ///< "SMs in use", "HBM", a link's or reduction unit's name
    std::string unit;                   ///< "SMs", "GB/s", "entries"
    std::optional<std::uint32_t> rank;  ///< empty: belongs to the interconnect
    bool operator==(const TimelineTrack&) const = default;
};

}  // namespace switchfold

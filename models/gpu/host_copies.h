// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/ring_queue.h"
#include "core/statistics.h"
#include "interconnect/fabric.h"
#include "models/gpu/copy_listener.h"
#include "models/gpu/parameters.h"
#include "models/memory/memory_system.h"
#include "workloads/graph/execution_graph.h"

#include <array>
#include <cstdint>

namespace switchfold {

struct HostCopyStatistics {
    std::uint64_t copies = 0;
    std::uint64_t to_device_bytes = 0;
    std::uint64_t to_host_bytes = 0;
    Time busy_time;
    Time shared_time;
    static constexpr auto statistics() {
        using S = HostCopyStatistics;
        return list_of(
            statistic("copies", &S::copies, Unit::kCount, "Copies that have ended."),
            statistic(
                "to_device_bytes", &S::to_device_bytes, Unit::kBytes, "Copied from the host."),
            statistic("to_host_bytes", &S::to_host_bytes, Unit::kBytes, "Copied to the host."),
            statistic(
                "busy_us", &S::busy_time, Unit::kMicroseconds,
                "Total time of copies in both directions."),
            statistic(
                "shared_us", &S::shared_time, Unit::kMicroseconds,
                "Part of busy_us in which copies waited for shared links: for this GPU's copies in "
                "the other direction, copies of other GPUs, or packets of collectives."));
    }
};

/// Copies between a GPU and its host: one at a time in each direction, in order; one in total if
/// there is a single engine. A copy alone takes its time in the trace if it has one, otherwise its
/// bytes over the slowest of the engine's rate, the links and the memory. It moves piece by piece:
/// each piece occupies all links of the path, in order of requests with packets and other copies,
/// and the next one follows when it has passed the slowest. Pieces take no credits: host and engine
/// have room for everything outstanding. Latencies of the path are hidden.
class HostCopies final : private EventHandler {
public:
    HostCopies(
        const CopyParams& params, MemorySystem& memory, Fabric& fabric, std::uint32_t rank,
        Scheduler& scheduler);

    /// Whether this copy goes over links, or both directions of the engine limit each other.
    [[nodiscard]] bool takes(const CopyOperation& copy) const;
    void start(std::uint32_t id, const CopyOperation& copy, CopyListener& listener);
    [[nodiscard]] const HostCopyStatistics& statistics() const { return statistics_; }

private:
    struct Waiting {
        std::uint32_t id = 0;
        CopyOperation copy;
        CopyListener* listener = nullptr;
    };
    struct Running : Waiting {
        Time begin;
        Time pace_begin;  ///< when it would have begun without any delay
        Bytes moved;
    };
    struct Engine {
        Running running;  ///< listener null when idle
        RingQueue<Waiting> queue;
    };
    /// When a piece has passed: without delays, and in fact.
    struct Passed {
        Time alone;
        Time shared;
    };
    void on_event(std::uint64_t tag) override;
    void begin(std::size_t engine, const Waiting& waiting);
    void move_piece(std::size_t engine);
    /// `limit`: longest time for which a piece occupies a link, or the resource that both
    /// directions share.
    void pass_links(bool to_device, Bytes piece, Time limit, Passed& passed);
    void pass_engines(Bytes piece, Time limit, Passed& passed);
    /// Time of the copy's first `moved` bytes at its own pace.
    [[nodiscard]] Time pace(const CopyOperation& copy, Bytes moved) const;

    CopyParams params_;
    MemorySystem& memory_;
    Fabric& fabric_;
    std::uint32_t rank_;
    Scheduler& scheduler_;
    std::array<Engine, 2> engines_;  ///< to the device, to the host
    Time both_free_;                 ///< when the resource shared by both directions is free
    HostCopyStatistics statistics_;
};

}  // namespace switchfold

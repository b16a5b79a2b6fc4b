// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/ring_queue.h"
#include "models/collectives/fifo/thread_block.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

class NetworkProxy;

/// One channel's connection over the network, starting in the sender's GPU memory: slices written
/// by its thread block, slices posted by the proxy, and data in flight.
class NetworkFlow {
public:
    /// `number`: of the flow at the proxy.
    NetworkFlow(NetworkProxy& proxy, std::uint32_t number, Fifo& fifo) :
        proxy_(proxy), fifo_(fifo), number_(number) {}

    /// A unit of `wire` bytes has been written to the sender's memory. Takes ownership of its
    /// values' handle.
    void put(std::uint32_t slot, std::uint32_t unit, std::uint32_t wire, std::uint32_t values);
    /// The block hands over, at `when` (ps, >= now), everything written since the last call.
    void post(std::uint64_t when);
    /// A unit that waited for a credit has left.
    void on_departure(Time departure);
    /// The collective gave up: later data carry no values.
    void drop_values();

private:
    friend class NetworkProxy;
    struct Unit {
        std::uint32_t slot;
        std::uint32_t unit;
        std::uint32_t wire;
        std::uint32_t values;
    };
    /// The proxy has posted the oldest slice.
    void release();
    void pump();

    NetworkProxy& proxy_;
    Fifo& fifo_;
    std::uint32_t number_;
    RingQueue<Unit> units_;
    RingQueue<std::uint32_t> slices_;  ///< number of units of each slice that waits for the proxy
    std::uint32_t put_ = 0;            ///< units written since the last post
    std::uint64_t put_bytes_ = 0;      ///< on the wire, of these units
    std::uint32_t posted_ = 0;         ///< units at the front that may be sent
    RingQueue<std::uint64_t> departures_;
    std::uint64_t read_until_ = 0;  ///< ps at which memory has delivered everything sent so far
    bool blocked_ = false;
    bool armed_ = false;
};

/// The proxy thread that serves one GPU's network connections. For outgoing data it detects a
/// slice, posts its transfer, and turns to the next; for incoming data it detects completion,
/// notifies the GPU, and posts the next receive. The network interface reads the data from the
/// GPU's memory and sends it while the proxy continues. With sockets, the proxy copies the data
/// itself, at `copy_rate`.
class NetworkProxy final : public EventHandler {
public:
    /// `scan_rate`: 0 unless data to be sent carry flags that the proxy looks at.
    NetworkProxy(
        BlockContext& context, RankPort& port, Time overhead, Bandwidth copy_rate,
        Bandwidth scan_rate) :
        context_(context),
        port_(port),
        overhead_(overhead.count()),
        copy_rate_(copy_rate),
        scan_rate_(scan_rate) {}

    NetworkFlow& add_flow(Fifo& fifo);
    /// Processes one slice of `wire` bytes that is due at `when` (ps), queued with all other work
    /// of the proxy. \returns when it is done
    std::uint64_t serve(std::uint64_t when, std::uint64_t wire) {
        free_at_ = std::max(free_at_, when) + overhead_;
        if (copy_rate_ != Bandwidth())
            free_at_ += serialization_time(Bytes(wire), copy_rate_).count();
        return free_at_;
    }

    void on_event(std::uint64_t tag) override;

private:
    friend class NetworkFlow;
    void post(std::uint32_t flow, std::uint64_t when, std::uint64_t wire);

    BlockContext& context_;
    RankPort& port_;
    std::uint64_t overhead_;
    Bandwidth copy_rate_;        ///< 0: the proxy copies nothing
    Bandwidth scan_rate_;        ///< 0: the proxy looks at a counter alone
    std::uint64_t free_at_ = 0;  ///< ps
    std::vector<std::unique_ptr<NetworkFlow>> flows_;
};

}  // namespace switchfold

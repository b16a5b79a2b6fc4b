// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "models/gpu/copy_listener.h"
#include "models/gpu/memory_left_listener.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

class KernelListener;

/// Shape of a communication kernel: the resources that it holds on the GPU while resident.
struct CommunicationKernel {
    std::uint32_t blocks = 1;
    std::uint32_t threads_per_block = 544;
    std::uint32_t registers_per_thread = 96;
    Bytes shared_memory;
    Bytes footprint;  ///< communication buffers that it keeps in the L2
    std::int32_t priority = 0;
    bool exchange = false;  ///< every pair of ranks exchanges separate data
};

class ResidentListener {
public:
    /// All blocks of the kernel hold their slots from now on.
    virtual void on_resident(std::uint32_t rank) = 0;

protected:
    ~ResidentListener() = default;
};

/// A collective's interface to one rank's GPU.
class RankPort {
public:
    virtual ~RankPort() = default;
    RankPort() = default;
    RankPort(const RankPort&) = delete;
    RankPort& operator=(const RankPort&) = delete;
    RankPort(RankPort&&) = delete;
    RankPort& operator=(RankPort&&) = delete;

    /// Requests slots for the kernel; the listener is called when it has them. \returns a ticket
    /// for vacate().
    virtual std::uint64_t occupy(const CommunicationKernel& kernel, ResidentListener& listener) = 0;
    virtual void vacate(std::uint64_t ticket) = 0;
    /// The kernel's blocks beyond `blocks` have ended. \pre it holds all its slots.
    virtual void keep(std::uint64_t ticket, std::uint32_t blocks) = 0;
    /// Bytes that a communication block reads and writes in local memory.
    /// \returns when they have been served; later calls are served later.
    virtual Time access(std::uint64_t read, std::uint64_t written) = 0;
    /// Links that whoever gives this number takes in turns, for so long from `now` on. \returns
    /// when the turn is over; later ones end later.
    virtual Time take_links(std::uint32_t number, Time now, Time taken) = 0;
    /// A copy between this GPU and its host; the listener receives `id` at its end.
    virtual void copy(std::uint32_t id, const CopyOperation& copy, CopyListener& listener) = 0;
    /// A kernel of this GPU that adds arrays, reading and writing so many bytes; the listener
    /// receives `id` at its end.
    virtual void add_arrays(
        std::uint32_t id, std::uint64_t read, std::uint64_t written, KernelListener& listener) = 0;
    /// Memory traffic of kernels beside the collective.
    struct Draw {
        double rate = 0;   ///< bytes per second
        double bytes = 0;  ///< so far
    };
    [[nodiscard]] virtual Draw kernel_draw() const { return {}; }
    /// Share of the memory's bandwidth that they leave to packets, to some percent.
    [[nodiscard]] virtual double memory_left() const { return 1; }
    [[nodiscard]] virtual bool kernels_run() const { return false; }
    /// The listener hears of it when either changes, until it is forgotten.
    virtual void tell_of_memory(MemoryLeftListener& /*listener*/) {}
    virtual void forget_listener(MemoryLeftListener& /*listener*/) {}
    /// Bytes per second that access() reaches without kernels; 0: any.
    [[nodiscard]] virtual double access_bandwidth() const { return 0; }
    /// Bytes that access() has moved so far.
    [[nodiscard]] virtual std::uint64_t accessed() const { return 0; }
    /// From now on `who` moves so many bytes per second without access(); 0: none.
    virtual void stream(const void* /*who*/, double /*bytes_per_second*/) {}
    /// Address that every access touches, for prefetching; may be null.
    [[nodiscard]] virtual const void* touched() const { return nullptr; }
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/copy_listener.h"
#include "sim/core/units.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// The shape of a communication kernel: what it takes on the GPU for as long as it is resident.
struct CommunicationKernel {
    std::uint32_t blocks = 1;
    std::uint32_t threads_per_block = 544;
    std::uint32_t registers_per_thread = 96;
    Bytes shared_memory;
    Bytes footprint;  ///< bytes of communication buffers that it keeps in the L2
    std::int32_t priority = 0;
    bool exchange = false;  ///< every pair of ranks exchanges data of its own
};

class ResidentListener {
public:
    /// All blocks of the kernel hold their slots from now on.
    virtual void on_resident(std::uint32_t rank) = 0;

protected:
    ~ResidentListener() = default;
};

/// What a collective needs of one rank's GPU.
class RankPort {
public:
    virtual ~RankPort() = default;
    RankPort() = default;
    RankPort(const RankPort&) = delete;
    RankPort& operator=(const RankPort&) = delete;
    RankPort(RankPort&&) = delete;
    RankPort& operator=(RankPort&&) = delete;

    /// Asks for the kernel's slots; the listener is told when it has them. \returns a ticket for
    /// vacate().
    virtual std::uint64_t occupy(const CommunicationKernel& kernel, ResidentListener& listener) = 0;
    virtual void vacate(std::uint64_t ticket) = 0;
    /// The kernel's blocks beyond `blocks` have ended; it holds all its slots by now.
    virtual void keep(std::uint64_t ticket, std::uint32_t blocks) = 0;
    /// Bytes that a communication block reads and writes in local memory.
    /// \returns when they have been served; later calls are served later.
    virtual Time access(std::uint64_t read, std::uint64_t written) = 0;
    /// A copy between this GPU and its host; the listener is told `id` when it has ended.
    virtual void copy(std::uint32_t id, const CopyOperation& copy, CopyListener& listener) = 0;
    /// What kernels beside the collective draw from the GPU's memory.
    struct Draw {
        double rate = 0;   ///< bytes a second
        double bytes = 0;  ///< up to now
    };
    [[nodiscard]] virtual Draw kernel_draw() const { return {}; }
    /// What every access touches, to ask for it ahead of time; or null.
    [[nodiscard]] virtual const void* touched() const { return nullptr; }
};

}  // namespace switchfold

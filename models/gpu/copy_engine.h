// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/world_clock.h"
#include "core/ring_queue.h"
#include "models/gpu/copy_listener.h"
#include "models/gpu/host_copies.h"
#include "models/gpu/parameters.h"
#include "models/memory/memory_system.h"
#include "workloads/graph/execution_graph.h"

#include <systemc>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

/// Copies of a GPU. Those between host and device go over the fabric's links if it has a path to
/// the host (HostCopies). All others run in order, as many at a time as there are engines. A copy
/// takes its time in the trace if it has one, otherwise its bytes over the slower of the engine's
/// rate to or from the host and the HBM. It requests its bytes piece by piece, so that they compete
/// in the HBM with everything else and other requests need not wait for the whole copy.
class CopyEngine final : public sc_core::sc_module, private EventHandler {
public:
    CopyEngine(
        const sc_core::sc_module_name& name, const CopyParams& params, MemorySystem& memory,
        Scheduler& scheduler);

    /// From now on this rank's host copies go over the fabric's links.
    void attach(Fabric& fabric, std::uint32_t rank);
    /// Statistics of copies over links; null without a fabric.
    [[nodiscard]] const HostCopyStatistics* host_statistics() const {
        return host_ ? &host_->statistics() : nullptr;
    }

    void start(std::uint32_t id, const CopyOperation& copy, CopyListener& listener);

private:
    struct Waiting {
        std::uint32_t id = 0;
        CopyOperation copy;
        CopyListener* listener = nullptr;
    };
    struct Running : Waiting {
        Time begin;
        Bytes moved;
    };
    void on_event(std::uint64_t tag) override;
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kPasses; }
    void begin(std::size_t engine, const Waiting& waiting);
    void move_piece(std::size_t engine);

    CopyParams params_;
    MemorySystem& memory_;
    Scheduler& scheduler_;
    WorldClock clock_;
    std::unique_ptr<HostCopies> host_;
    std::vector<Running> running_;  ///< one per engine; listener null when idle
    RingQueue<Waiting> queue_;
};

}  // namespace switchfold

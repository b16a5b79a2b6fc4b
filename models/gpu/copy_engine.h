// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "models/memory/memory_system.h"
#include "sim/core/ring_queue.h"
#include "sim/kernel/world_clock.h"
#include "workloads/graph/execution_graph.h"

#include <systemc>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

class CopyListener {
public:
    virtual void on_copy_end(std::uint32_t id) = 0;

protected:
    ~CopyListener() = default;
};

/// Copies between host and device and within the device: as many at a time as there are engines, in
/// order. A copy takes its time in the trace if it has one, else its bytes over the slower of the
/// host link and the HBM. It asks for its bytes piece after piece as it goes on, so that they
/// compete in the HBM with everything else and what comes meanwhile does not wait for the whole.
class CopyEngine final : public sc_core::sc_module, private EventHandler {
public:
    CopyEngine(
        const sc_core::sc_module_name& name,
        const CopyParams& params,
        MemorySystem& memory,
        Scheduler& scheduler);

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
    WorldClock clock_;
    std::vector<Running> running_;  ///< one an engine; listener null when idle
    RingQueue<Waiting> queue_;
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "models/memory/memory_system.h"
#include "sim/core/ring_queue.h"
#include "sim/kernel/world_clock.h"
#include "workloads/execution_graph.h"

#include <systemc>

#include <cstdint>

namespace switchfold {

class CopyListener {
public:
    virtual void on_copy_end(std::uint32_t id) = 0;

protected:
    ~CopyListener() = default;
};

/// Copies between host and device and within the device: as many at a time as there are engines, in
/// order. A copy takes its time in the trace if it has one, else its bytes over the slower of the
/// host link and the HBM; its bytes compete in the HBM with everything else.
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
    void on_event(std::uint64_t tag) override;
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kPasses; }
    void begin(const Waiting& waiting);

    CopyParams params_;
    MemorySystem& memory_;
    WorldClock clock_;
    std::vector<Waiting> running_;  ///< one an engine; listener null when idle
    RingQueue<Waiting> queue_;
};

}  // namespace switchfold

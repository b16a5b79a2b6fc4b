// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/phases_beside.h"

#include <algorithm>

namespace switchfold {

void add_phases(
    const CollectiveOperation& operation, const CommunicationDraw& draw, std::uint32_t ranks,
    double from_us, double to_us, std::vector<CommunicationPhase>& phases) {
    // Assumed largest slowdown of a collective by kernels beside it (nccl#1433).
    constexpr double kSlowestTransfer = 2;
    const double residence = to_us - from_us;
    CommunicationPhase phase;
    phase.threads = operation.threads_per_block;
    phase.registers_per_thread = operation.registers_per_thread;
    phase.shared_memory = operation.shared_memory;
    phase.footprint = draw.footprint;
    phase.exchange = operation.kind == CollectiveKind::kAllToAll;
    phase.from_us = from_us;
    phase.to_us = to_us;
    phase.blocks = operation.thread_blocks;
    // If the residence is little longer than the transfer, waiting cannot be told from a transfer
    // slowed by the kernels.
    const bool all = residence < kSlowestTransfer * draw.time_us;
    const double moving = all ? residence : draw.time_us;
    const double rate = draw.bytes_per_second * draw.time_us / std::max(moving, 1e-3);
    if (phase.exchange) {
        CommunicationPhase first = phase;
        first.to_us = std::min(phase.to_us, phase.from_us + moving);
        first.bytes_per_second = rate;
        if (first.to_us > first.from_us)
            phases.push_back(first);
        phase.from_us = first.to_us;
        phase.blocks = (phase.blocks + ranks - 2) / (ranks - 1);
        if (phase.to_us > phase.from_us)
            phases.push_back(phase);
        return;
    }
    phases.push_back(phase);
    phase.blocks = 0;
    phase.from_us = std::max(phase.from_us, phase.to_us - moving);
    phase.bytes_per_second = rate;
    if (rate > 0)
        phases.push_back(phase);
}

}  // namespace switchfold

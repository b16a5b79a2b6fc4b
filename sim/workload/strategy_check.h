// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/parameters.h"
#include "models/gpu/parameters.h"
#include "sim/config/training_params.h"
#include "training/memory/accounting/strategy_memory.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// FIFOs of the channels of one communicator on a GPU: in every channel its ring's connection has
/// one of each protocol (NCCL allocates them with the connection).
[[nodiscard]] Bytes channel_buffers(const CollectiveParams& params, std::uint32_t ranks);

/// Memory of a strategy's step, by its batch. All arguments must outlive this object.
class StrategyCheck {
public:
    StrategyCheck(
        const TrainingWorkloadParams& workload, const Network& network, const ExecutionGraph& step,
        Bytes channels);

    /// Peak memory of a rank.
    [[nodiscard]] StrategyMemory memory(std::uint32_t batch) const;
    /// The largest batch whose successor needs more than the capacity; 0: not even one sample
    /// fits. \pre capacity > 0
    [[nodiscard]] std::uint32_t largest_batch(Bytes capacity) const;
    /// "12.3 GiB a GPU: weights 2.6, ...".
    [[nodiscard]] std::string told() const;
    /// Why it does not fit, and what would; empty if it fits or the capacity is unknown.
    [[nodiscard]] std::string lack(const GpuParams& gpu) const;

private:
    const TrainingWorkloadParams& workload_;
    const Network& network_;
    const ExecutionGraph& step_;
    Bytes channels_;
};

}  // namespace switchfold

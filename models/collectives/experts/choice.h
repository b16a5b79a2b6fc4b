// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "models/collectives/choice/refusal.h"
#include "models/collectives/choice/tuning.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Threads per block of DeepEP's low-latency kernels.
inline constexpr std::uint32_t kLowLatencyThreads = 1024;
inline constexpr std::uint32_t kLowLatencyRegisters =
    64;  ///< 65,536 registers per SM divided among its threads

/// The library that a policy refers to.
[[nodiscard]] constexpr ExpertsLibrary library_of(const ExpertsPolicy& policy) {
    return policy.library == ExpertsLibrary::kAuto ? ExpertsLibrary::kDeepepNormal : policy.library;
}

/// Properties of a machine that exchanges of experts depend on.
struct ExpertsMachine {
    std::uint32_t ranks = 0;
    std::uint32_t machines = 1;  ///< NVLink domains that the ranks span
    std::uint32_t sms = 0;       ///< per GPU
    Bytes shared_memory;         ///< per SM, available to blocks
    bool multicast = false;      ///< a single domain whose switches replicate and reduce
};

/// What a dispatch or combine asks beside a call's kind.
struct ExpertsCall {
    const ExpertExchange& exchange;
    ExpertsPolicy policy;
    ExpertsMachine machine;
};

/// Why the exchange cannot run with the policy on the machine, and which of its settings is to
/// blame.
[[nodiscard]] Refusal why_no_experts(
    const ExpertsParams& params, const ExpertsPolicy& policy, const ExpertExchange& exchange,
    const ExpertsMachine& machine);

/// Fewest thread blocks of the exchange: a sender for each receiver, or a warp for each expert.
[[nodiscard]] std::uint32_t
least_blocks(const ExpertsPolicy& policy, const ExpertExchange& exchange);

/// The policy within so many thread blocks. \pre `most` is at least least_blocks().
[[nodiscard]] ExpertsPolicy limited(ExpertsPolicy policy, std::uint32_t most);

/// Library, thread blocks and tokens per chunk.
[[nodiscard]] CollectiveConfig choose_experts(
    const CollectiveParams& params, const ExpertsPolicy& policy, CollectiveKind kind,
    const ExpertExchange& exchange, std::uint32_t sms);

}  // namespace switchfold

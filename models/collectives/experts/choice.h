// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"
#include "sim/core/units.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Whether a collective is a dispatch or a combine of a mixture-of-experts layer.
[[nodiscard]] constexpr bool is_experts(CollectiveKind kind) {
    return kind == CollectiveKind::kMoeDispatch || kind == CollectiveKind::kMoeCombine;
}

/// Blocks of DeepEP's low-latency kernels.
inline constexpr std::uint32_t kLowLatencyThreads = 1024;
inline constexpr std::uint32_t kLowLatencyRegisters = 64;  ///< 65,536 of an SM for its threads

/// The library that a policy means.
[[nodiscard]] constexpr ExpertsLibrary library_of(const ExpertsPolicy& policy) {
    return policy.library == ExpertsLibrary::kAuto ? ExpertsLibrary::kDeepepNormal : policy.library;
}

/// What a machine has that exchanges of experts need to know.
struct ExpertsMachine {
    std::uint32_t ranks = 0;
    std::uint32_t machines = 1;  ///< NVLink domains that they are spread over
    std::uint32_t sms = 0;       ///< of a GPU
    Bytes shared_memory;         ///< of an SM, for blocks
    bool multicast = false;      ///< one domain whose switches copy and add
};

/// Something that cannot run so, and where a scenario or its workload says it.
struct ExpertsRefusal {
    std::string pointer;  ///< below the scenario's policy, "/sms"; empty: its library as such
    std::string why;      ///< "is 3, ...; expected ..."
};
/// Why the exchange cannot run by the policy on the machine; without `why` if it can.
[[nodiscard]] ExpertsRefusal why_no_experts(
    const ExpertsParams& params,
    const ExpertsPolicy& policy,
    const ExpertExchange& exchange,
    const ExpertsMachine& machine);

/// Library, thread blocks and tokens of a chunk.
[[nodiscard]] Choice choose_experts(
    const CollectiveParams& params,
    const ExpertsPolicy& policy,
    CollectiveKind kind,
    const ExpertExchange& exchange,
    std::uint32_t sms);

}  // namespace switchfold

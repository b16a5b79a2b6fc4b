// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/copy/copy_choice.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint32_t kFirstWithCopies = 22'800;

bool goes_to_all(CollectiveKind kind) {
    return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kBroadcast;
}

}  // namespace

bool copy_knows(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kSendReceive:
        return true;
    default:
        return false;
    }
}

std::string why_no_copy(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call) {
    if (!copy_knows(call.kind))
        return fmt::format(
            "copy engines add nothing, so they run no {}; symmetric kernels do it with few SMs",
            to_string(call.kind));
    // Frameworks copy to a neighbour without NCCL (userbuffers, symmetric memory).
    if (params.nccl_version < kFirstWithCopies && call.kind != CollectiveKind::kSendReceive)
        return fmt::format(
            "NCCL has them from 2.28 on, and nccl_version is {}", params.nccl_version);
    if (machine.machines > 1)
        return "the group spans several machines";
    if (machine.pcie)
        return "the GPUs do not reach each other by NVLink alone";
    if (policy.algorithm == Algorithm::kInSwitch && !goes_to_all(call.kind))
        return fmt::format("{} sends each rank data of its own", to_string(call.kind));
    if (policy.algorithm == Algorithm::kInSwitch && machine.in_switch_bandwidth == Bandwidth())
        return "the switches do not copy for these GPUs";
    return {};
}

CollectiveConfig choose_copy(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call) {
    CollectiveConfig choice;
    choice.own = CopyEngineConfig();
    choice.algorithm =
        policy.algorithm == Algorithm::kInSwitch ? Algorithm::kInSwitch : Algorithm::kDirect;
    choice.protocol = Protocol::kSimple;
    choice.channels = 0;
    const auto rate =
        static_cast<double>(std::max<std::uint64_t>(1, machine.pair_bandwidth.count()));
    const double seconds = static_cast<double>(call.bytes.count()) / rate;
    choice.estimate = params.copy_engine.start + params.copy_engine.signal * 2 +
                      Time(static_cast<std::uint64_t>(seconds * 1e12));
    return choice;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Where a warp's data come from or go to.
enum class Side : std::uint8_t {
    kOwn,     ///< the own buffer
    kPeers,   ///< every rank's buffer, one after the other
    kSwitch,  ///< every rank's at once, through the switch
};

/// What one of NCCL's symmetric kernels does with each piece of its work
/// (src/device/symmetric/{all_reduce,all_gather,reduce_scatter}.cuh).
struct SymmetricMove {
    Side source = Side::kOwn;
    Side sink = Side::kOwn;
    bool lines = false;  ///< LL: every 8 bytes of data carry 8 of flags, and there is no barrier
};
/// The kernel of this kind: `algorithm` in_switch (LDMC, STMC, LLMC) or direct (LD, ST, LL);
/// `protocol` ll or simple.
[[nodiscard]] SymmetricMove
symmetric_move(CollectiveKind kind, Algorithm algorithm, Protocol protocol);

/// Whether there are symmetric kernels of this kind, on whatever machine.
[[nodiscard]] bool symmetric_knows(CollectiveKind kind);

/// Why there is no such kernel for these numbers on this machine; empty if there is. What the
/// topology cannot do is not asked here.
[[nodiscard]] std::string why_no_symmetric(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

/// The kernel, its blocks and its time by NCCL's estimate (src/sym_kernels.cc): per kernel the
/// fewest blocks within 2.5 % of its best, then the kernel with the least time, 2.5 % a block
/// added.
[[nodiscard]] Choice choose_symmetric(
    const CollectiveParams& params,
    const CollectivePolicy& policy,
    const MachineView& machine,
    const CollectiveCall& call);

}  // namespace switchfold

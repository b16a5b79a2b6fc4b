// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// Source or destination of a warp's data.
enum class Side : std::uint8_t {
    kOwn,     ///< its own buffer
    kPeers,   ///< every rank's buffer, one after another
    kSwitch,  ///< all ranks' buffers at once, through the switch
};

/// Actions of one of NCCL's symmetric kernels on each piece of its work
/// (src/device/symmetric/{all_reduce,all_gather,reduce_scatter}.cuh).
struct SymmetricMove {
    Side source = Side::kOwn;
    Side sink = Side::kOwn;
    bool lines = false;  ///< LL: every 8 bytes of data carry 8 bytes of flags, without barriers
};
/// The kernel of this kind: `algorithm` in_switch (LDMC, STMC, LLMC) or direct (LD, ST, LL);
/// `protocol` ll or simple.
[[nodiscard]] SymmetricMove
symmetric_move(CollectiveKind kind, Algorithm algorithm, Protocol protocol);

/// Whether there are symmetric kernels of this kind, on any machine.
[[nodiscard]] bool symmetric_knows(CollectiveKind kind);

/// Why there is no such kernel for this call on this machine; empty if there is. Limits of the
/// topology are checked elsewhere.
[[nodiscard]] std::string why_no_symmetric(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call);

/// The kernel, its blocks and its time by NCCL's estimate (src/sym_kernels.cc): for each kernel the
/// fewest blocks within 2.5 % of its best time, then the kernel with the least time, penalised by
/// 2.5 % per block.
[[nodiscard]] CollectiveConfig choose_symmetric(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call);

}  // namespace switchfold

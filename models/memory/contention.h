// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// Mechanisms by which communication slows kernels; to find causes they are switched on and off.
/// The effect of kernels on communication is always on.
struct Contention {
    bool sm = true;          ///< communication blocks take SM slots
    bool l2 = true;          ///< communication buffers take L2 capacity, or do not fit it
    bool hbm = true;         ///< communication traffic takes HBM and L2 bandwidth
    bool latency = true;     ///< communication traffic delays accesses
    bool completion = true;  ///< kernels' completions wait for communication
    bool clock = true;       ///< communication lowers the SM clock, if the GPU states by how much
};

}  // namespace switchfold

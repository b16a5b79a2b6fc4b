// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// Mechanisms by which communication slows kernels; the report switches them off one at a time. The
/// effect of kernels on communication is always on.
struct Contention {
    bool sm = true;          ///< communication blocks take SM slots
    bool l2 = true;          ///< communication buffers take L2 capacity
    bool hbm = true;         ///< communication traffic takes HBM and L2 bandwidth
    bool latency = true;     ///< communication traffic delays accesses
    bool completion = true;  ///< kernels' completions wait for communication
    bool clock = true;       ///< communication lowers the SM clock, if the GPU states by how much
};

}  // namespace switchfold

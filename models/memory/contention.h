// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// Which mechanisms by which communication slows kernels are on; the report switches them off one
/// at a time. What kernels do to communication is always there.
struct Contention {
    bool sm = true;       ///< communication blocks take SM slots
    bool l2 = true;       ///< communication buffers take L2 capacity
    bool hbm = true;      ///< communication traffic takes HBM and L2 bandwidth
    bool latency = true;  ///< communication traffic delays each access and each kernel's completion
    bool clock = true;    ///< communication lowers the SM clock, where the GPU says how much
};

}  // namespace switchfold

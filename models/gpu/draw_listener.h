// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

class DrawListener {
public:
    /// Kernels of a GPU begin to draw from its memory. The caller is in the middle of an event.
    virtual void on_kernel_draws() = 0;

protected:
    ~DrawListener() = default;
};

}  // namespace switchfold

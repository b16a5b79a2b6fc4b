// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

class MemoryLeftListener {
public:
    /// Kernels of a GPU leave another share of its memory's bandwidth to packets, or begin or cease
    /// to run. The caller is in the middle of an event.
    virtual void on_memory_left() = 0;

protected:
    ~MemoryLeftListener() = default;
};

}  // namespace switchfold

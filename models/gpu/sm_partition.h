// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/sm_array.h"

#include <cstdint>
#include <optional>

namespace switchfold {

/// A GPU's SMs, for kernels and communication together, or divided between them as CUDA's green
/// contexts divide them: blocks of communication then have SMs that no kernel may use, and use no
/// others, whether or not they are there.
class SmPartition {
public:
    /// `communication`: SMs of its own, 0 for none. They are beside the `sms` where `taken` is
    /// false: kernels lose none then, to find what the division costs.
    SmPartition(
        const SmParams& params, std::uint32_t sms, std::uint32_t communication, bool taken = true);

    [[nodiscard]] SmArray& compute() { return compute_; }
    [[nodiscard]] const SmArray& compute() const { return compute_; }
    [[nodiscard]] SmArray& communication() { return own_ ? *own_ : compute_; }
    /// SMs that hold at least one block.
    [[nodiscard]] std::uint32_t busy_sms() const;

private:
    SmArray compute_;
    std::optional<SmArray> own_;
};

}  // namespace switchfold

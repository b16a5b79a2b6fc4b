// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/sm_array.h"

#include <cstdint>
#include <optional>

namespace switchfold {

/// A GPU's SMs, either shared by kernels and communication, or divided between them as by CUDA's
/// green contexts: communication blocks then have SMs that no kernel may use, and use no others,
/// even when there is no communication.
class SmPartition {
public:
    /// `communication`: SMs reserved for communication, 0 for none. With `taken` false they are
    /// additional to `sms`, so that kernels lose none: this shows the cost of the division.
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

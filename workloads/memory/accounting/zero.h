// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

/// Where mixed-precision Adam's data of a parameter are: ZeRO-Offload (Ren et al., ATC 2021).
struct StatesOnHost {
    bool gradients = false;  ///< 16-bit ones
    bool update = false;     ///< 32-bit weights and both moments
};
/// Bytes a parameter on the GPU: 2 of the 16-bit weight, 2 of its gradient, 12 of the update.
[[nodiscard]] constexpr std::uint32_t state_bytes_on_gpu(const StatesOnHost& host) {
    return 2U + (host.gradients ? 0U : 2U) + (host.update ? 0U : 12U);
}

/// Floating-point operations a byte that travels (ZeRO-Infinity, Rajbhandari et al., SC 2021):
/// `sequence` tokens a sample, `batch` samples.
[[nodiscard]] constexpr double intensity_of_parameters(double sequence, double batch) {
    return sequence * batch;  // and of gradients
}
[[nodiscard]] constexpr double intensity_of_optimizer(double sequence, double batch) {
    return sequence * batch / 4;
}
/// One activation checkpoint of width `hidden` each `interval` blocks.
[[nodiscard]] constexpr double intensity_of_checkpoints(double hidden, double interval) {
    return 24 * hidden * interval;
}
/// Share of `peak` (operations a second) that is left if copies of that intensity are not hidden.
[[nodiscard]] constexpr double
unhidden_efficiency(double intensity, double bytes_a_second, double peak) {
    return intensity * bytes_a_second / (intensity * bytes_a_second + peak);
}

}  // namespace switchfold

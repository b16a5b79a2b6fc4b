// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold {

/// Location of mixed-precision Adam's per-parameter state: ZeRO-Offload (Ren et al., ATC 2021).
struct StatesOnHost {
    bool gradients = false;  ///< 16-bit ones
    bool update = false;     ///< 32-bit weights and both moments
};
/// Bytes per parameter on the GPU: 2 for the 16-bit weight, 2 for its gradient, 12 for the update's
/// state.
[[nodiscard]] constexpr std::uint32_t state_bytes_on_gpu(const StatesOnHost& host) {
    return 2U + (host.gradients ? 0U : 2U) + (host.update ? 0U : 12U);
}

/// FLOPs per byte transferred (ZeRO-Infinity, Rajbhandari et al., SC 2021), for `sequence` tokens
/// per sample and `batch` samples.
[[nodiscard]] constexpr double intensity_of_parameters(double sequence, double batch) {
    return sequence * batch;  // for parameters and gradients
}
[[nodiscard]] constexpr double intensity_of_optimizer(double sequence, double batch) {
    return sequence * batch / 4;
}
/// With one activation checkpoint of width `hidden` per `interval` blocks.
[[nodiscard]] constexpr double intensity_of_checkpoints(double hidden, double interval) {
    return 24 * hidden * interval;
}
/// Share of `peak` (FLOP/s) that is reached if copies at this intensity are not hidden.
[[nodiscard]] constexpr double
unhidden_efficiency(double intensity, double bytes_a_second, double peak) {
    return intensity * bytes_a_second / (intensity * bytes_a_second + peak);
}

}  // namespace switchfold

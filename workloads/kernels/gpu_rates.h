// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace switchfold {

/// What a GPU gives to a kernel that has it alone, in plain numbers: the parameters that kernel
/// times are computed from. `gpu_rates()` in sim/run fills it from a GPU's description. Rates are
/// of the whole GPU, a second; times are seconds.
struct GpuRates {
    std::string name;
    std::uint32_t sms = 108;

    // One SM.
    std::uint32_t threads = 2048;
    std::uint32_t blocks = 32;
    std::uint32_t registers = 65'536;
    std::uint64_t shared_memory = 164 * 1024;  ///< bytes
    std::uint32_t warp = 32;

    // Arithmetic: floating-point operations at the data sheet's clock, dense. 0: no such unit.
    double vector = 0;         ///< 32-bit vector units
    double tensor_half = 0;    ///< matrix units on 16-bit numbers
    double tensor_float8 = 0;  ///< ... on 8-bit numbers
    double tensor_tf32 = 0;    ///< ... on 32-bit numbers, rounded
    /// Share of the peak that long products keep at the power limit.
    double sustained_share = 1;

    // Memory.
    double memory_bandwidth = 0;  ///< bytes that streaming reads reach
    double l2_bandwidth = 0;
    std::uint64_t l2_capacity = 0;  ///< bytes
    double memory_latency = 0;      ///< of an access that misses the L2
    double l2_latency = 0;

    double launch = 0;  ///< of a kernel that does nothing, back to back with others
};

}  // namespace switchfold

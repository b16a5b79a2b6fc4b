// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"

namespace switchfold::test_data {

/// Like an A100: matrix products load operands with asynchronous copies.
inline GpuRates ampere() {
    GpuRates gpu;
    gpu.name = "ampere";
    gpu.sms = 108;
    gpu.shared_memory = 164 * 1024;
    gpu.shared_memory_of_a_block = 1024;
    gpu.vector = 19.5e12;
    gpu.integer = 9.75e12;
    gpu.half = 312e12;
    gpu.tf32 = 156e12;
    gpu.matrix = 271e12;
    gpu.kernels = MatrixKernels::kAsyncCopy;
    gpu.read_bandwidth = 1.9e12;
    gpu.mixed_bandwidth = 1.8e12;
    gpu.l2_bandwidth = 5.4e12;
    gpu.l2_capacity = 40 * 1024 * 1024;
    gpu.memory_latency = 365e-9;
    gpu.launch = 2.8e-6;
    return gpu;
}

/// Like an H100: matrix products run in persistent warpgroups.
inline GpuRates hopper() {
    GpuRates gpu = ampere();
    gpu.name = "hopper";
    gpu.sms = 132;
    gpu.shared_memory = 228 * 1024;
    gpu.vector = 67e12;
    gpu.integer = 16.75e12;
    gpu.half = 989e12;
    gpu.float8 = 1979e12;
    gpu.tf32 = 494e12;
    gpu.matrix = 794e12;
    gpu.kernels = MatrixKernels::kWarpgroup;
    gpu.read_bandwidth = 3.2e12;
    gpu.mixed_bandwidth = 3.1e12;
    gpu.l2_bandwidth = 9.8e12;
    gpu.l2_capacity = 50 * 1024 * 1024;
    gpu.memory_latency = 450e-9;
    gpu.launch = 1.5e-6;
    return gpu;
}

/// Like a B200: matrix products accumulate in tensor memory.
inline GpuRates blackwell() {
    GpuRates gpu = hopper();
    gpu.name = "blackwell";
    gpu.sms = 148;
    gpu.vector = 80e12;
    gpu.integer = 20e12;
    gpu.half = 2250e12;
    gpu.float8 = 4500e12;
    gpu.float4 = 9000e12;
    gpu.tf32 = 1125e12;
    gpu.matrix = 1745e12;
    gpu.kernels = MatrixKernels::kTensorMemory;
    gpu.read_bandwidth = 7.7e12;
    gpu.mixed_bandwidth = 7.4e12;
    gpu.l2_bandwidth = 13e12;
    gpu.l2_capacity = 126 * 1024 * 1024;
    return gpu;
}

/// Like a P40: only vector units, no matrix units.
inline GpuRates pascal() {
    GpuRates gpu;
    gpu.name = "pascal";
    gpu.sms = 30;
    gpu.shared_memory = 96 * 1024;
    gpu.shared_memory_of_a_block = 0;
    gpu.vector = 11.76e12;
    gpu.integer = 5.88e12;
    gpu.matrix = 9.4e12;
    gpu.kernels = MatrixKernels::kVector;
    gpu.read_bandwidth = 330e9;
    gpu.mixed_bandwidth = 320e9;
    gpu.l2_bandwidth = 1.2e12;
    gpu.l2_capacity = 3 * 1024 * 1024;
    gpu.memory_latency = 308e-9;
    gpu.launch = 2.6e-6;
    return gpu;
}

}  // namespace switchfold::test_data

// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/kernel_model.h"

#include "core/error.h"
#include "core/named_path.h"
#include "models/memory/hbm_timing.h"

namespace switchfold {

namespace {

MatrixKernels kernels_of(MatrixUnits units) {
    switch (units) {
    case MatrixUnits::kRegisters:
        return MatrixKernels::kRegisters;
    case MatrixUnits::kAsyncCopy:
        return MatrixKernels::kAsyncCopy;
    case MatrixUnits::kWarpgroup:
        return MatrixKernels::kWarpgroup;
    case MatrixUnits::kTensorMemory:
        return MatrixKernels::kTensorMemory;
    case MatrixUnits::kNone:
        break;
    }
    return MatrixKernels::kVector;
}

double rate(FlopRate r) {
    return static_cast<double>(r.count());
}

}  // namespace

GpuRates gpu_rates(const GpuParams& gpu) {
    const ArithmeticParams& arithmetic = gpu.arithmetic;
    const MemoryParams& memory = gpu.memory;
    GpuRates rates;
    rates.name = gpu.name;
    rates.sms = gpu.sms;
    rates.threads = gpu.sm.threads;
    rates.blocks = gpu.sm.blocks;
    rates.registers = gpu.sm.registers;
    rates.shared_memory = gpu.sm.shared_memory.count();
    rates.shared_memory_of_a_block = gpu.sm.reserved_shared_memory.count();
    const double stated_sms = arithmetic.of_sms == 0 ? gpu.sms : arithmetic.of_sms;
    const double pace = gpu.clock * gpu.sms / stated_sms;
    rates.vector = rate(arithmetic.vector_rate) * pace;
    rates.integer = rates.vector * arithmetic.integer_ratio;
    rates.half = rate(arithmetic.half_rate) * pace;
    rates.float8 = rate(arithmetic.float8_rate) * pace;
    rates.float4 = rate(arithmetic.float4_rate) * pace;
    rates.tf32 = rate(arithmetic.tf32_rate) * pace;
    rates.matrix = rate(gpu.matrix_rate) * pace;
    rates.kernels = kernels_of(arithmetic.units);
    rates.winograd = arithmetic.winograd;
    rates.read_bandwidth = achievable_bytes_per_second(memory.hbm, 0);
    rates.mixed_bandwidth = achievable_bytes_per_second(memory.hbm, 0.5);
    const Bandwidth operands = arithmetic.operand_bandwidth;
    rates.l2_bandwidth =
        static_cast<double>(operands.count() == 0 ? memory.l2.bandwidth.count() : operands.count());
    rates.l2_of_sm = rates.l2_bandwidth / stated_sms * gpu.clock;
    rates.l2_capacity = memory.l2.capacity.count();
    rates.memory_latency = to_seconds(memory.hbm.latency + memory.l2.latency);
    rates.draw_per_thread = static_cast<double>(gpu.draw_per_thread.count());
    rates.launch = to_seconds(arithmetic.launch);
    rates.overhead = to_seconds(gpu.kernel_overhead);
    return rates;
}

std::string why_no_kernel_times(const GpuParams& gpu) {
    if (gpu.arithmetic.vector_rate.count() == 0)
        return gpu.name + " states no arithmetic/vector_rate";
    if (gpu.matrix_rate.count() == 0)
        return gpu.name + " states no matrix_rate";
    return {};
}

KernelTimes
kernel_times(const GpuParams& gpu, const std::string& table, const std::filesystem::path& folder) {
    const std::string lacks = why_no_kernel_times(gpu);
    SWITCHFOLD_CHECK(lacks.empty(), "{}", lacks);
    const GpuRates rates = gpu_rates(gpu);
    if (table.empty())
        return KernelTimes(rates);
    return {rates, path_from(folder, table)};
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/memory_kernel.h"

#include "workloads/kernels/kernel_constants.h"
#include "workloads/kernels/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace switchfold {

using namespace kernel_constants;

namespace {

constexpr double kBytesOfBlock = 128 * 4 * 16;  // 128 threads, four accesses of 16 B each
constexpr double kFloat = 4;

}  // namespace

KernelEstimate estimate(const MemoryKernel& kernel, const GpuRates& gpu) {
    if (!(kernel.read >= 0 && kernel.written >= 0 && kernel.flops >= 0 && kernel.instructions >= 0))
        throw std::invalid_argument("a kernel has fewer than 0 bytes; expected 0 or more");
    const double bytes = kernel.read + kernel.written;
    const double blocks = std::max(1.0, bytes / kBytesOfBlock);
    const double busy = std::min(blocks, double(gpu.sms));
    const double share = busy / gpu.sms;
    // The inputs were just written: the part still in the L2 causes no memory traffic.
    const double cold = cold_share(bytes, gpu) * kernel.read + kernel.written;
    const double memory = cold > 0 ? cold / memory_bandwidth(gpu, kernel.written / cold) : 0.0;
    const double l2 = bytes / l2_rate(gpu, busy);
    const double arithmetic =
        (kernel.flops > 0 ? kernel.flops / (gpu.vector * share) : 0.0) +
        (kernel.instructions > 0 ? kernel.instructions / (gpu.integer * share) : 0.0);
    const double seconds =
        overlapped(std::max(memory, l2), arithmetic) + kFill * gpu.memory_latency + gpu.launch;

    KernelEstimate result;
    KernelOperation& operation = result.kernel;
    operation.isolated = kernel_duration(seconds);
    operation.kernel_class = kernel.kernel_class;
    operation.flops = kernel.flops;
    operation.grid.x = static_cast<std::uint32_t>(std::min(blocks, 4e9));
    operation.block.x = 128;
    operation.registers_per_thread = 32;
    operation.bytes_read = Bytes(static_cast<std::uint64_t>(kernel.read));
    operation.bytes_written = Bytes(static_cast<std::uint64_t>(kernel.written));
    operation.byte_source = ByteSource::kShapes;
    operation.l2_share = static_cast<float>(bytes > 0 ? 1 - cold / bytes : 0);
    operation.duration_source = DurationSource::kModel;
    result.l2_bytes = bytes;
    result.memory_bytes = cold;
    result.choice = fmt::format("{} blocks", operation.grid.x);
    return result;
}

MemoryKernel element_wise(double elements, double inputs, double element) {
    return {
        KernelClass::kElementwise, inputs * elements * element, elements * element,
        (inputs + 1) * elements};
}

MemoryKernel norm(double elements, double element, bool backward) {
    // Backward reads the gradient and the input, and writes the input's gradient.
    constexpr double kForward = 8;
    constexpr double kBack = 14;
    return {
        KernelClass::kNorm, (backward ? 2 : 1) * elements * element, elements * element,
        (backward ? kBack : kForward) * elements};
}

MemoryKernel apex_norm(double elements, double element, bool backward) {
    MemoryKernel kernel = norm(elements, element, backward);
    kernel.read *= backward ? 2 : 1;
    kernel.instructions = (backward ? kApexNormBack : kApexNorm) * elements;
    kernel.flops = 0;  // among the instructions
    return kernel;
}

MemoryKernel batch_norm(double elements, double element, bool backward) {
    MemoryKernel two_passes = norm(elements, element, backward);
    two_passes.read *= 2;
    return two_passes;
}

MemoryKernel bias_gradient(double elements, double columns, double element) {
    return {KernelClass::kReduction, elements * element, columns * element, elements};
}

MemoryKernel softmax_loss(double elements, double element, bool backward) {
    // Forward stores the logarithm of each row's sum; backward overwrites the input with the
    // gradient.
    return {
        KernelClass::kReduction, elements * element, backward ? elements * element : 0.0,
        kScoreOperations * elements};
}

MemoryKernel embedding(double elements, double element, bool backward) {
    // Rows are added to a table of 32-bit gradients: reads and writes the table, reads the rows'
    // gradient.
    if (backward)
        return {
            KernelClass::kEmbeddingGather, elements * (element + kFloat), elements * kFloat,
            elements};
    return {KernelClass::kEmbeddingGather, elements * element, elements * element, 0};
}

MemoryKernel optimizer(double parameters, double weight, double gradient, double state) {
    constexpr double kOperations = 12;
    return {
        KernelClass::kOptimizer, parameters * (gradient + state), parameters * (weight + state),
        kOperations * parameters};
}

MemoryKernel copy(double bytes) {
    return {KernelClass::kCopyLayout, bytes, bytes, 0};
}

MemoryKernel strided(double elements, double read, double written) {
    return {KernelClass::kElementwise, read, written, elements, kPlaceOfElement * elements};
}

}  // namespace switchfold

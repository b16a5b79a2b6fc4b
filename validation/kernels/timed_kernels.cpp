// SPDX-License-Identifier: Apache-2.0
#include "validation/kernels/timed_kernels.h"

#include "core/fnv.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold::validation {

namespace {

constexpr double kHalf = 2;  ///< bytes per activation

/// Time of finding the largest activation and converting all of them.
double conversion(double activations, const GpuRates& gpu) {
    const MemoryKernel largest{KernelClass::kReduction, activations * kHalf, 0, activations};
    const MemoryKernel converted{
        KernelClass::kElementwise, activations * kHalf, activations, activations};
    return estimate(largest, gpu).seconds() + estimate(converted, gpu).seconds();
}

}  // namespace

TimedKernel timed_kernel(const MatrixProduct& product, const GpuRates& gpu) {
    MatrixProduct looped = product;
    const bool eight_bits = product.datatype == Datatype::kFloat8;
    const auto k = static_cast<double>(product.k);
    const double weights = static_cast<double>(product.n) * k * element_bytes(product.datatype);
    constexpr double kMostCopies = 5;
    const double copies =
        std::clamp(std::ceil(static_cast<double>(gpu.l2_capacity) / weights), 1.0, kMostCopies);
    looped.since_right = (copies - 1) * weights;
    looped.since_left = looped.since_right;
    const KernelEstimate kernel = estimate(looped, gpu);
    TimedKernel timed{kernel.seconds(), kernel.choice};
    if (eight_bits) {
        timed.seconds += conversion(static_cast<double>(product.m) * k, gpu);
        timed.how += ", conversion of the activations";
    }
    return timed;
}

TimedKernel timed_kernel(const Attention& attention, const GpuRates& gpu) {
    const KernelEstimate kernel = estimate(attention, gpu);
    const double keys = static_cast<double>(attention.batch) * static_cast<double>(attention.keys) *
                        static_cast<double>(attention.kv_heads) *
                        static_cast<double>(attention.head_width) *
                        element_bytes(attention.datatype);
    const double beside =
        estimate(MemoryKernel{}, gpu).seconds() + estimate(copy(2 * keys), gpu).seconds();
    return {kernel.seconds() + beside, kernel.choice};
}

std::string size_of_row(const MatrixProduct& p) {
    return fmt::format("{}x{}x{}", p.m, p.n, p.k);
}

std::string size_of_row(const Attention& a) {
    return fmt::format(
        "{}x{}, {} heads of {} on {}", a.batch, a.queries, a.heads, a.head_width, a.kv_heads);
}

intervals::Likeness
kernel_likeness(std::string_view gpu, std::string operation, double simulated_us) {
    intervals::Likeness like;
    like.kind = "kernel";
    like.operation = std::move(operation);
    like.generation = intervals::generation_of(gpu);
    like.us = simulated_us;
    return like;
}

bool in_fitted_half(const std::string& size) {
    return (Fnv().add(size).value() >> 32U) % 2 == 0;
}

}  // namespace switchfold::validation

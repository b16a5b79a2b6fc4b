// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/intervals/likeness.h"
#include "workloads/kernels/attention.h"
#include "workloads/kernels/matrix_product.h"

#include <string>
#include <string_view>

namespace switchfold::validation {

/// What a kernel benchmark measures, in terms of the model.
struct TimedKernel {
    double seconds = 0;
    std::string how;
};

/// A product in the loop of the tables' benchmark: one left operand and result, and as many
/// alternating right operands as fill the L2, at most five. An 8-bit product is a linear layer on
/// 16-bit activations: one kernel finds their largest value, another converts them.
[[nodiscard]] TimedKernel timed_kernel(const MatrixProduct& product, const GpuRates& gpu);

/// Attention as run by an inference server on a prompt: besides the kernel, one that plans its
/// tiles and one that copies keys and values into the cache.
[[nodiscard]] TimedKernel timed_kernel(const Attention& attention, const GpuRates& gpu);

/// "1024x4096x256" and "8x1024, 32 heads of 128 on 8".
[[nodiscard]] std::string size_of_row(const MatrixProduct& product);
[[nodiscard]] std::string size_of_row(const Attention& attention);

/// What is like a kernel of these kinds: product, attention, convolution, other.
[[nodiscard]] intervals::Likeness
kernel_likeness(std::string_view gpu, std::string operation, double simulated_us);

/// Whether the model's constants may have been fitted to a kernel of this size: a fixed half of all
/// sizes, selected by a hash of the text.
[[nodiscard]] bool in_fitted_half(const std::string& size);

}  // namespace switchfold::validation

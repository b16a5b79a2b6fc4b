// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/kernel_times.h"
#include "workloads/kernels/layer_products.h"

#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// A convolution with windows of 3 x 3 and stride 1.
struct SmallWindows {
    std::uint64_t images = 1;
    std::uint64_t height = 1;  ///< of the results
    std::uint64_t width = 1;
    std::uint64_t in_channels = 1;
    std::uint64_t out_channels = 1;
};

/// A kernel of such a convolution; the product's name is empty.
struct WinogradKernel {
    std::string_view name;
    KernelEstimate estimate;
};

/// Winograd's algorithm in 32 bits (Lavin and Gray, arXiv 1509.09308; cuDNN's
/// WINOGRAD_NONFUSED): operands are transformed, tile by tile of 4 x 4 results, 36 products take
/// the place of 144 multiplications, and the sums are transformed back. The tiles and their
/// products pass through memory. `summed`: bytes per element of the gradient that a weight gradient
/// is added to, or 0. \returns its kernels, in order; nothing if the tiles exceed the workspace
/// that frameworks allow, or if the library has no such kernels for the GPU.
[[nodiscard]] std::optional<std::vector<WinogradKernel>>
winograd(const SmallWindows& layer, LayerPass pass, double summed, const KernelTimes& times);

}  // namespace switchfold

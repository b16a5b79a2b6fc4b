// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/matrix_product.h"

#include <cstdint>

namespace switchfold {

/// The three products of a layer.
enum class LayerPass : std::uint8_t { kForward, kInputGradient, kWeightGradient };

/// A dense layer on `rows` vectors (batch times tokens).
struct LinearShape {
    std::uint64_t rows = 1;
    std::uint64_t inputs = 1;
    std::uint64_t outputs = 1;
};
[[nodiscard]] MatrixProduct
product(const LinearShape& layer, LayerPass pass, Datatype datatype, bool tf32 = false);

/// A convolution, run as an implicit matrix product: nothing is unrolled in memory.
struct ConvolutionShape {
    std::uint64_t batch = 1;
    std::uint64_t in_channels = 1;
    std::uint64_t out_channels = 1;
    std::uint64_t out_height = 1;
    std::uint64_t out_width = 1;
    std::uint64_t kernel_height = 1;
    std::uint64_t kernel_width = 1;
    std::uint64_t in_height = 1;
    std::uint64_t in_width = 1;
    std::uint64_t groups = 1;
};
[[nodiscard]] MatrixProduct
product(const ConvolutionShape& layer, LayerPass pass, Datatype datatype, bool tf32 = false);

/// One time step of an LSTM layer: one product for the four gates of all samples, with inputs and
/// state concatenated.
struct LstmStepShape {
    std::uint64_t batch = 1;
    std::uint64_t inputs = 1;
    std::uint64_t hidden = 1;
};
[[nodiscard]] MatrixProduct
product(const LstmStepShape& step, LayerPass pass, Datatype datatype, bool tf32 = false);

}  // namespace switchfold

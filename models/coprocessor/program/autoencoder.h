// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/program/parallel_program.h"

#include <cstdint>
#include <vector>

namespace switchfold::offload {

/// How a mini-batch is mapped to the processor.
enum class Strategy : std::uint8_t {
    kTwoLevel,  ///< own loops: mini-batch over cores, neurons over each core's threads and lanes
    kLibrary,   ///< one library matrix product per layer and direction
};

/// How the teams' gradients are summed.
enum class GradientSum : std::uint8_t { kAtomics, kCopies };

/// Training of a deep autoencoder: dense layers with sigmoids, a decoder that mirrors the encoder,
/// 32-bit numbers, plain gradient descent.
struct Autoencoder {
    std::vector<std::uint32_t> widths;  ///< from the input to the code; at least two
    std::uint32_t batch = 1;
    Strategy strategy = Strategy::kTwoLevel;
    GradientSum sum = GradientSum::kCopies;
    bool recompute = false;     ///< recompute the encoder's activations instead of keeping them
    bool returns_code = false;  ///< send each sample's code to the host
};

/// One training step.
[[nodiscard]] ParallelProgram training_step(const Autoencoder& network);

/// Number of weights, without biases.
[[nodiscard]] std::uint64_t weights_of(const Autoencoder& network);

}  // namespace switchfold::offload

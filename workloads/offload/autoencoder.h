// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/offload/parallel_program.h"

#include <cstdint>
#include <vector>

namespace switchfold::offload {

/// How the mini-batch is laid over a processor.
enum class Strategy : std::uint8_t {
    kTwoLevel,  ///< own loops: mini-batch over cores, neurons over a core's threads and lanes
    kLibrary,   ///< one matrix product of a library a layer and direction
};

/// How the teams' gradients become one.
enum class GradientSum : std::uint8_t { kAtomics, kCopies };

/// Training of a deep autoencoder: dense layers with sigmoids, decoder as the encoder mirrored,
/// 32-bit numbers, plain gradient descent.
struct Autoencoder {
    std::vector<std::uint32_t> widths;  ///< from the input to the code; at least two
    std::uint32_t batch = 1;
    Strategy strategy = Strategy::kTwoLevel;
    GradientSum sum = GradientSum::kCopies;
    bool recompute = false;     ///< the encoder's activations are computed again, not kept
    bool returns_code = false;  ///< each sample's code goes back to the host
};

/// Vector operations that a sigmoid takes, an exponential and a division: assumed.
inline constexpr std::uint64_t kSigmoidOperations = 16;

/// One step of it.
[[nodiscard]] ParallelProgram training_step(const Autoencoder& network);

/// Weights of the layers, biases left out.
[[nodiscard]] std::uint64_t weights_of(const Autoencoder& network);

}  // namespace switchfold::offload

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"
#include "training/network/network.h"

#include <cstdint>

namespace switchfold {

struct ChainOptions {
    std::uint32_t batch = 1;
    std::uint64_t input_elements = 0;  ///< per sample
    std::uint64_t element = 4;         ///< bytes per element
    std::uint64_t granule = 1;         ///< every size is rounded up to a multiple of this, bytes
};

/// The schedule that GeePS declares in Caffe for a chain of layers, from a table of layers with
/// parameters: F_l opens w_l, a_(l-1), a_l; B_l opens g_l, w_l, h_l (a moment of the optimizer),
/// a_(l-1), a_l, d_l, d_(l-1). Weights and gradients are in the staging area while open and are
/// never retained, as in GeePS. The schedule has no pools, activation functions or skip
/// connections: it serves to compare planners, not to model a network. The table's `inputs` are
/// ignored.
[[nodiscard]] TensorUses parameter_chain(const Network& network, const ChainOptions& options);

}  // namespace switchfold

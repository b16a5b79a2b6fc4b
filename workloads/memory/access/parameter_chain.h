// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/access_schedule.h"
#include "workloads/network/network.h"

#include <cstdint>

namespace switchfold {

struct ChainOptions {
    std::uint32_t batch = 1;
    std::uint64_t input_elements = 0;  ///< a sample
    std::uint64_t element = 4;         ///< bytes
    std::uint64_t granule = 1;         ///< every size is rounded up to a multiple of it, bytes
};

/// The schedule that GeePS has Caffe declare for a chain of layers, from a table of layers with
/// parameters alone: F_l opens w_l, a_(l-1), a_l; B_l opens g_l, w_l, h_l (a moment of the
/// optimizer), a_(l-1), a_l, d_l, d_(l-1). Weights and gradients lie in the staging area while they
/// are open and are never pinned, as GeePS counts them. It has no pools, activation functions or
/// skips: a yardstick for planners, no model of a network. Inputs of the layers are not read.
[[nodiscard]] AccessSchedule parameter_chain(const Network& network, const ChainOptions& options);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/plan/step/parallel_plan.h"
#include "workloads/kernels/kernel_times.h"

namespace switchfold {

/// The network in the sizes of what one rank of those that share layers, samples or experts has:
/// its part of each layer's parameters, outputs and heads. With one rank, the network itself.
[[nodiscard]] Network
rank_network(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

}  // namespace switchfold

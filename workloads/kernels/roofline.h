// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"

namespace switchfold {

/// Time of two things that overlap: the longer, or more where they are alike.
[[nodiscard]] double overlapped(double a, double b);

/// Share of the L2's capacity behind which an operand is: 0 all of it is there, 1 none, with so
/// many bytes touched since.
[[nodiscard]] double cold_share(double touched, const GpuRates& gpu);

/// Bytes a second of memory with this share of writes.
[[nodiscard]] double memory_bandwidth(const GpuRates& gpu, double write_share);

/// What arithmetic of so many seconds at the short-term rate takes once the power limit sets in;
/// `boost` is that rate over the long-term one.
[[nodiscard]] double at_power_limit(double seconds, double boost);

}  // namespace switchfold

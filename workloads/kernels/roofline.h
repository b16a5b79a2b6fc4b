// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/gpu_rates.h"

namespace switchfold {

/// Time of a kernel of which operations and bytes are all that is known: the longer of the two at
/// these rates (per second), and a million seconds at most.
[[nodiscard]] Time roofline_time(const KernelOperation& kernel, double flops, double bytes);

/// Combined time of two overlapping activities: the longer one, or more if they are similar.
[[nodiscard]] double overlapped(double a, double b);

/// Share of an operand that is no longer in the L2 after `touched` bytes: from 0 (fully cached) to
/// 1.
[[nodiscard]] double cold_share(double touched, const GpuRates& gpu);

/// Bytes per second that this many SMs draw from the L2.
[[nodiscard]] double l2_rate(const GpuRates& gpu, double busy_sms);
/// What one of them draws at most.
[[nodiscard]] double l2_rate_of_sm(const GpuRates& gpu);

/// Memory bandwidth (bytes per second) for a stream with this share of writes.
[[nodiscard]] double memory_bandwidth(const GpuRates& gpu, double write_share);

/// Ratio of the short-term rate of arithmetic to its long-term rate: above 1 before the power limit
/// takes effect, never above the data sheet's `peak`.
[[nodiscard]] double short_term_gain(double peak, double long_rate, const GpuRates& gpu);

/// Duration of arithmetic that takes `seconds` at the short-term rate, once the power limit takes
/// effect; `boost` is the ratio of short-term to long-term rate.
[[nodiscard]] double at_power_limit(double seconds, double boost);

}  // namespace switchfold

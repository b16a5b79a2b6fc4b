// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/roofline.h"

#include "workloads/kernels/kernel_constants.h"
#include "workloads/kernels/kernel_estimate.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace switchfold {

using namespace kernel_constants;

Time kernel_duration(double seconds) {
    constexpr double kMost = 1e6;
    constexpr double kPicoseconds = 1e12;
    if (!(seconds < kMost))
        throw std::invalid_argument("a kernel takes longer than a million seconds; expected less");
    return Time(static_cast<std::uint64_t>(seconds * kPicoseconds + 0.5));
}

void find_in_l2(KernelOperation& kernel, const GpuRates& gpu) {
    const double bytes = static_cast<double>((kernel.bytes_read + kernel.bytes_written).count());
    const double body = std::max(0.0, to_seconds(kernel.isolated) - gpu.launch);
    if (bytes > 0)
        kernel.l2_share =
            std::max(kernel.l2_share, static_cast<float>(1 - body * gpu.mixed_bandwidth / bytes));
}

Time roofline_time(const KernelOperation& kernel, double flops, double bytes) {
    constexpr double kMost = 1e6;
    constexpr double kPicoseconds = 1e12;
    const double moved = static_cast<double>((kernel.bytes_read + kernel.bytes_written).count());
    const double seconds = std::max(kernel.flops / flops, moved / bytes);
    return Time(static_cast<std::uint64_t>(std::min(seconds, kMost) * kPicoseconds));
}

double overlapped(double a, double b) {
    const double longer = std::max(a, b);
    if (longer <= 0)
        return 0;
    const double ratio = std::min(a, b) / longer;
    return longer * std::pow(1 + std::pow(ratio, kSharpness), 1 / kSharpness);
}

double cold_share(double touched, const GpuRates& gpu) {
    const auto capacity = static_cast<double>(gpu.l2_capacity);
    if (!(touched < kL2Lost * capacity))
        return 1;
    return std::clamp((touched / capacity - kL2Kept) / (kL2Lost - kL2Kept), 0.0, 1.0);
}

double l2_rate_of_sm(const GpuRates& gpu) {
    return gpu.l2_of_sm > 0 ? gpu.l2_of_sm : gpu.l2_bandwidth / gpu.sms;
}

double l2_rate(const GpuRates& gpu, double busy_sms) {
    return std::min(gpu.l2_bandwidth, busy_sms * l2_rate_of_sm(gpu));
}

double memory_bandwidth(const GpuRates& gpu, double write_share) {
    // Mixed streams write half; a larger share costs no more.
    const double mixed = std::min(1.0, 2 * write_share);
    return gpu.read_bandwidth + mixed * (gpu.mixed_bandwidth - gpu.read_bandwidth);
}

double short_term_gain(double peak, double long_rate, const GpuRates& gpu) {
    return gpu.loaded ? 1.0 : std::clamp(peak / long_rate, 1.0, kBoost);
}

double at_power_limit(double seconds, double boost) {
    return seconds <= kBoostSeconds ? seconds : kBoostSeconds + (seconds - kBoostSeconds) * boost;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace switchfold {

/// Seconds that a device takes for a step of b samples, for each b that it can hold. Element 0 is
/// 0: a device without samples is not used.
using StepTimes = std::span<const double>;

enum class DivisionMethod : std::uint8_t {
    kEven,    ///< shares that differ by at most one sample
    kGreedy,  ///< optimal if no device gets faster with more samples
    kExact,   ///< optimal for any times
    kPadded,  ///< like exact, but devices may be filled up with empty samples: used if exact is too
              ///< expensive
};

/// How a batch is divided over devices.
struct BatchDivision {
    std::vector<std::uint32_t> samples;  ///< by device
    double seconds = 0;                  ///< of the slowest device
    double idle = 0;                     ///< seconds until the slowest ends, summed over devices
    DivisionMethod method = DivisionMethod::kEven;
};

/// Whether more samples never take less time.
[[nodiscard]] bool is_monotone(StepTimes times);

/// Times if a device may be filled up with empty samples: for b, the least time of any number from
/// b on.
[[nodiscard]] std::vector<double> padded(StepTimes times);

/// Times of up to `most` samples in successive micro-batches, all of `micro_batch` samples except
/// the last; `once` is added to every step. \pre `times` covers at least `micro_batch` samples.
[[nodiscard]] std::vector<double>
with_micro_batches(StepTimes times, std::uint32_t most, std::uint32_t micro_batch, double once = 0);

// Nothing is returned if all devices together cannot hold the batch.

/// Divides evenly, with larger shares first. Also nothing if a device cannot hold its share.
[[nodiscard]] std::optional<BatchDivision>
divide_evenly(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// Assigns samples one by one to the device that would finish first; ties go to the device with
/// fewer samples, then to the first. This takes the `batch` smallest of all devices' sorted times,
/// so the slowest device is as fast as possible, in O(batch log devices), and equal devices get
/// equal shares. \pre all monotone.
[[nodiscard]] std::optional<BatchDivision>
divide_greedily(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// The least time of the slowest device, found by bisection as an independent check: the most
/// samples that all devices finish within a time must reach the batch. \pre all monotone.
[[nodiscard]] std::optional<double>
least_seconds(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// Minimises the time of the slowest device, then the idle time, then prefers larger shares for the
/// first devices. Works for any times, in O(devices x batch^2).
[[nodiscard]] std::optional<BatchDivision>
divide_exactly(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// Divides greedily where that is optimal and exactly otherwise; above about 10^10 operations,
/// greedily with padded times.
[[nodiscard]] std::optional<BatchDivision>
divide(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// Divides over the number n of devices that minimises seconds + overhead[n], with overhead[n] the
/// additional time of a step with n devices, for n >= 1. Ties go to fewer devices. \pre all
/// monotone.
[[nodiscard]] std::optional<BatchDivision> divide_over_some(
    const std::vector<StepTimes>& devices, std::uint32_t batch,
    const std::vector<double>& overhead);

/// Time and idle time of a given division; nothing if a device cannot hold its part.
[[nodiscard]] std::optional<BatchDivision>
priced(const std::vector<StepTimes>& devices, std::vector<std::uint32_t> samples);

/// Spread of the step times of the devices in use.
struct StepSpread {
    double longest = 0;    ///< seconds
    double mean = 0;       ///< seconds
    double deviation = 0;  ///< seconds: the standard deviation
    [[nodiscard]] double longest_over_mean() const { return mean > 0 ? longest / mean : 1; }
};
[[nodiscard]] StepSpread spread_of(const std::vector<double>& seconds);
[[nodiscard]] StepSpread
spread_of(const std::vector<StepTimes>& devices, const std::vector<std::uint32_t>& samples);

}  // namespace switchfold

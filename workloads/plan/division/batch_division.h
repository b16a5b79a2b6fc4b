// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace switchfold {

/// Seconds that a device takes for a step of b samples, for each b that it can hold. Index 0 is 0:
/// a device without samples is not used.
using StepTimes = std::span<const double>;

enum class DivisionMethod : std::uint8_t {
    kEven,    ///< shares that differ by at most one sample
    kGreedy,  ///< optimal where no device is faster with more samples
    kExact,   ///< optimal for any times
    kPadded,  ///< a device may fill up with empty samples, where the exact programme is too large
};

/// How a batch is divided over devices.
struct BatchDivision {
    std::vector<std::uint32_t> samples;  ///< by device
    double seconds = 0;                  ///< of the slowest device
    double idle = 0;                     ///< seconds until then, summed over all devices
    DivisionMethod method = DivisionMethod::kEven;
};

/// Whether no number of samples takes less than a smaller one.
[[nodiscard]] bool is_monotone(StepTimes times);

/// The same times where a device may fill up with empty samples: the least of any number from b on.
[[nodiscard]] std::vector<double> padded(StepTimes times);

/// Times of up to `most` samples in micro-batches, of which all but the last have `micro_batch`
/// samples: one after the other, and `once` in every step. `times` holds at least `micro_batch`.
[[nodiscard]] std::vector<double>
with_micro_batches(StepTimes times, std::uint32_t most, std::uint32_t micro_batch, double once = 0);

// None where all devices together cannot hold the batch.

/// Shares that differ by at most one sample, larger ones first. None too where a device cannot hold
/// its share.
[[nodiscard]] std::optional<BatchDivision>
divide_evenly(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// Sample by sample to the device that has it done first; of equals to the one with fewer samples,
/// then the first. That takes the `batch` smallest of all devices' sorted times: the slowest is as
/// fast as can be, in O(batch log devices), and equal devices have equal shares. \pre all monotone.
[[nodiscard]] std::optional<BatchDivision>
divide_greedily(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// The least time of the slowest device by another way, bisection: in a time every device can take
/// so many samples, and all together have to take the batch. \pre all monotone.
[[nodiscard]] std::optional<double>
least_seconds(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// The division with the least time of the slowest device; of those the one with the least idle
/// time; of those the one that gives the first devices most. For any times, in
/// O(devices x batch^2).
[[nodiscard]] std::optional<BatchDivision>
divide_exactly(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// The greedy one where it is optimal, else the exact one, or beyond some 10^10 operations the
/// greedy one of padded times.
[[nodiscard]] std::optional<BatchDivision>
divide(const std::vector<StepTimes>& devices, std::uint32_t batch);

/// The division over as many of the devices as make seconds + overhead[n] least, where
/// `overhead[n]` is what a step with n devices takes beside, from n = 1 on; of equals the one with
/// the fewest devices. \pre all monotone.
[[nodiscard]] std::optional<BatchDivision> divide_over_some(
    const std::vector<StepTimes>& devices,
    std::uint32_t batch,
    const std::vector<double>& overhead);

/// Seconds and idle time of a division; none where a device cannot hold its part.
[[nodiscard]] std::optional<BatchDivision>
priced(const std::vector<StepTimes>& devices, std::vector<std::uint32_t> samples);

/// How much step times of the devices that are used differ.
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

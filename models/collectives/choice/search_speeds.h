// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "models/collectives/parameters.h"

#include <array>
#include <cstdint>
#include <span>

namespace switchfold {

/// GB/s, NCCL's unit.
[[nodiscard]] inline double gigabytes(Bandwidth bandwidth) {
    return static_cast<double>(bandwidth.count()) * 1e-9;
}

/// Speeds in GB/s that NCCL's search tries for a channel inside a machine, the highest first
/// (src/graph/search.cc, speedArrayIntra and those of sm90 and sm100).
[[nodiscard]] inline std::span<const double> search_speeds(TunerGeneration generation) {
    static constexpr std::array kHopper{60.0, 50.0, 40.0, 30.0, 24.0, 20.0,
                                        15.0, 12.0, 11.0, 6.0,  3.0};
    static constexpr std::array kBlackwell{90.0, 80.0, 70.0, 60.0, 50.0, 45.0,
                                           40.0, 30.0, 24.0, 20.0, 19.0, 18.0};
    static constexpr std::array kBefore{40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0,
                                        9.0,  7.0,  6.0,  5.0,  4.0,  3.0};
    switch (generation) {
    case TunerGeneration::kHopper:
        return kHopper;
    case TunerGeneration::kBlackwell:
        return kBlackwell;
    default:
        return kBefore;
    }
}

/// The highest that it tries between machines.
[[nodiscard]] inline double most_across(TunerGeneration generation) {
    constexpr double kBefore = 48;
    constexpr double kBlackwell = 96;
    return generation == TunerGeneration::kBlackwell ? kBlackwell : kBefore;
}

/// Whether each of so many rings of a speed is split in two (ncclTopoDupChannels): fast ones, on
/// Hopper and later only if there are few, or faster ones.
[[nodiscard]] inline bool
splits_rings(TunerGeneration generation, std::uint32_t rings, double gigabytes_per_second) {
    constexpr double kFast = 25;
    constexpr double kFaster = 50;
    constexpr std::uint32_t kMany = 4;
    const bool recent =
        generation == TunerGeneration::kHopper || generation == TunerGeneration::kBlackwell;
    return gigabytes_per_second >= kFast &&
           !(recent && gigabytes_per_second < kFaster && rings > kMany);
}

}  // namespace switchfold

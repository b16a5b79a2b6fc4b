// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// A kernel's shares of the memory's time when it runs alone (0 to 1 each): bytes / duration /
/// bandwidth.
struct MemoryShare {
    double hbm = 0;
    double l2 = 0;
};

/// The remaining part of a kernel's time, spent by its SMs, such that all parts together give 1 in
/// the p-norm. Shares that would leave a negative part are scaled down first; `clipped` says so.
struct Roofline {
    MemoryShare memory;
    double sm = 1;
    double sharpness = 4;
    bool clipped = false;
};
[[nodiscard]] Roofline make_roofline(MemoryShare memory, double sharpness);

/// Times of a wave's parts, relative to those of a full wave alone.
struct WaveParts {
    double sm = 1;
    double hbm = 1;
    double l2 = 1;
    bool operator==(const WaveParts&) const = default;
};

/// Time of a wave, relative to a full wave alone. Exactly 1 if all parts are 1.
[[nodiscard]] double wave_stretch(const Roofline& roofline, const WaveParts& parts);

}  // namespace switchfold

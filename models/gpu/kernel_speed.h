// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

/// A kernel's share of the memory's time when it runs alone (0 to 1 each): bytes / duration /
/// bandwidth.
struct MemoryShare {
    double hbm = 0;
    double l2 = 0;
};

/// What the rest of a kernel's time is: the part that its SMs spend, so that all parts together
/// give 1 in the p-norm. Shares that would leave less than nothing are scaled down first; `clipped`
/// says so.
struct Roofline {
    MemoryShare memory;
    double sm = 1;
    double sharpness = 4;
    bool clipped = false;
};
[[nodiscard]] Roofline make_roofline(MemoryShare memory, double sharpness);

/// What the parts of a wave take, relative to the same parts of a full wave alone.
struct WaveParts {
    double sm = 1;
    double hbm = 1;
    double l2 = 1;
    bool operator==(const WaveParts&) const = default;
};

/// Time of a wave, relative to a full wave alone. Exactly 1 when all parts are 1.
[[nodiscard]] double wave_stretch(const Roofline& roofline, const WaveParts& parts);

}  // namespace switchfold

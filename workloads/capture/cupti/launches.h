// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/format/records.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace switchfold::capture {

/// A kernel that the range profiler is counting.
struct CountedLaunch {
    std::string kernel;
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t ordinal = 0;
};

/// The launches behind the profiler's ranges, which are numbered in the order of launches and carry
/// nothing else. Ordinals go on over all batches.
class Launches {
public:
    explicit Launches(std::size_t batch) : batch_(batch) {}
    void
    add(std::string_view kernel,
        const std::array<std::uint32_t, 3>& grid,
        const std::array<std::uint32_t, 3>& block);
    /// A kernel that runs without being counted still has its place among its like.
    void skip(
        std::string_view kernel,
        const std::array<std::uint32_t, 3>& grid,
        const std::array<std::uint32_t, 3>& block);
    /// The counter image is full: decode it before the next launch.
    [[nodiscard]] bool full() const { return counting_.size() >= batch_; }
    /// The launches since the last call, by range.
    [[nodiscard]] std::vector<CountedLaunch> take();

private:
    using Key = std::tuple<std::string, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>;
    std::size_t batch_;
    std::map<Key, std::uint32_t> seen_;
    std::vector<CountedLaunch> counting_;
};

/// Kernels of collectives wait for other ranks, so one at a time under a profiler they would wait
/// for ever: they run uncounted.
[[nodiscard]] bool waits_for_peers(std::string_view kernel);

}  // namespace switchfold::capture

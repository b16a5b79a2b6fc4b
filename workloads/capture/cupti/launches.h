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

/// A kernel being counted by the range profiler.
struct CountedLaunch {
    std::string kernel;
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t ordinal = 0;
};

/// Maps the profiler's ranges to launches: ranges are numbered in launch order and carry nothing
/// else. Ordinals continue across batches.
class Launches {
public:
    explicit Launches(std::size_t batch) : batch_(batch) {}
    void
    add(std::string_view kernel, const std::array<std::uint32_t, 3>& grid,
        const std::array<std::uint32_t, 3>& block);
    /// Registers a kernel that runs uncounted; it takes an ordinal as well.
    void skip(
        std::string_view kernel, const std::array<std::uint32_t, 3>& grid,
        const std::array<std::uint32_t, 3>& block);
    /// Whether the counter image is full and must be decoded before the next launch.
    [[nodiscard]] bool full() const { return counting_.size() >= batch_; }
    /// The launches since the last call, indexed by range.
    [[nodiscard]] std::vector<CountedLaunch> take();

private:
    using Key = std::tuple<std::string, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>;
    std::size_t batch_;
    std::map<Key, std::uint32_t> seen_;
    std::vector<CountedLaunch> counting_;
};

/// Whether the kernel waits for other ranks, as collectives do. The profiler serialises kernels, so
/// such a kernel would wait forever; it runs uncounted.
[[nodiscard]] bool waits_for_peers(std::string_view kernel);

}  // namespace switchfold::capture

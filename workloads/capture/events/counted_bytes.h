// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/capture_file.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold::capture {

/// The counters of a second pass, found by what the two passes have in common: a kernel's name and
/// shape and its place among its like.
class CountedBytes {
public:
    struct Bytes {
        std::uint64_t read = 0;
        std::uint64_t written = 0;
    };
    explicit CountedBytes(const CaptureFile& counters);
    /// Of the next kernel of this name and shape; kernels must be asked for in the order of their
    /// launches. The mean of its like where the second pass ran it less often; empty if it never
    /// did.
    [[nodiscard]] std::optional<Bytes> next(const std::string& kernel, const Kernel& shape);

private:
    using Key = std::tuple<std::string, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>;
    struct Counted {
        std::map<std::uint32_t, Bytes> by_ordinal;
        Bytes sum;
        std::uint32_t asked = 0;
    };
    std::map<Key, Counted> counted_;
};

}  // namespace switchfold::capture

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

/// Looks up the counters of a second pass by what both passes share: a kernel's name, shape and
/// ordinal among kernels of equal name and shape.
class CountedBytes {
public:
    struct Bytes {
        std::uint64_t read = 0;
        std::uint64_t written = 0;
    };
    explicit CountedBytes(const CaptureFile& counters);
    /// Bytes of the next kernel with this name and shape; ask in launch order. If the second pass
    /// ran fewer of them, their mean; empty if it ran none.
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

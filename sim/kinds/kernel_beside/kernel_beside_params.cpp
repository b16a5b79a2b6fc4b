// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/kernel_beside/kernel_beside_params.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace switchfold {

Dim3 dimensions(const std::vector<std::uint32_t>& sizes) {
    std::array<std::uint32_t, 3> all{1, 1, 1};
    std::copy(sizes.begin(), sizes.end(), all.begin());
    return {all[0], all[1], all[2]};
}

void MatrixProductParams::check(ParamChecker& checker) const {
    if (datatype != Datatype::kFloat32 && datatype != Datatype::kFloat16 &&
        datatype != Datatype::kBfloat16 && datatype != Datatype::kFloat8)
        checker.error(
            "/datatype",
            fmt::format(
                "is {}, of which no product is modelled; expected float32, float16, bfloat16 or "
                "float8",
                enum_name(datatype)));
}

void LaunchedKernelParams::check(ParamChecker& checker) const {
    for (const auto& [pointer, sizes] : {std::pair("/grid", &grid), std::pair("/block", &block)})
        if (sizes->empty() || sizes->size() > 3)
            checker.error(
                pointer, fmt::format("has {} numbers; expected one to three", sizes->size()));
    constexpr std::uint64_t kMostThreads = 1024;
    if (block.size() <= 3 && dimensions(block).count() > kMostThreads)
        checker.error(
            "/block",
            fmt::format(
                "is of {} threads; expected at most {}", dimensions(block).count(), kMostThreads));
    if (!time && bytes_read == Bytes(0) && bytes_written == Bytes(0) && flops == 0)
        checker.error(
            "/time",
            "is not given, and neither are bytes_read, bytes_written and flops; expected one");
}

}  // namespace switchfold

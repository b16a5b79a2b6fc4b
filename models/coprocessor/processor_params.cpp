// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/processor_params.h"

#include <fmt/format.h>

namespace switchfold {

void ProcessorParams::check(ParamChecker& checker) const {
    if (system_cores >= cores)
        checker.error(
            "/system_cores", fmt::format(
                                 "is {}, and cores is {}; expected fewer, so that one computes",
                                 system_cores, cores));
    constexpr std::uint32_t kNumber = 4;  // bytes
    if (cache.line % kNumber != 0)
        checker.error(
            "/cache/line",
            fmt::format(
                "is {}; expected a multiple of {}, the bytes of a number", cache.line, kNumber));
}

}  // namespace switchfold

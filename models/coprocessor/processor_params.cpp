// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/processor_params.h"

#include <fmt/format.h>

namespace switchfold {

void ProcessorParams::check(ParamChecker& checker) const {
    if (system_cores >= cores)
        checker.error(
            "/system_cores",
            fmt::format(
                "is {}, and cores is {}; expected fewer, so that one computes",
                system_cores,
                cores));
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/run/config/many_core_params.h"

#include <fmt/format.h>

namespace switchfold {

void ManyCoreParams::check(ParamChecker& checker) const {
    if (widths.size() < 2)
        checker.error(
            "/widths",
            fmt::format(
                "has {} layer{}; expected at least the input's and the code's",
                widths.size(),
                widths.size() == 1 ? "" : "s"));
    const ProcessorParams& used = processor();
    if (cores && *cores > used.cores)
        checker.error(
            "/cores",
            fmt::format(
                "is {}, and {} has {}; expected at most those", *cores, used.name, used.cores));
    if (threads_per_core && *threads_per_core > used.threads_per_core)
        checker.error(
            "/threads_per_core",
            fmt::format(
                "is {}, and a core of {} has {}; expected at most those",
                *threads_per_core,
                used.name,
                used.threads_per_core));
    if (nested_threads > 1 && strategy == offload::Strategy::kLibrary)
        checker.error(
            "/nested_threads",
            "is for regions of own loops, and the strategy is library; expected two_level, or 1");
}

}  // namespace switchfold

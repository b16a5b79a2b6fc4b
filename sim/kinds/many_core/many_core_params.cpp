// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/many_core/many_core_params.h"

#include <fmt/format.h>

namespace switchfold {

void ManyCoreParams::check(ParamChecker& checker) const {
    if (widths.size() < 2)
        checker.error(
            "/widths", fmt::format(
                           "has {} layer{}; expected at least the input's and the code's",
                           widths.size(), widths.size() == 1 ? "" : "s"));
    if (nested_threads > 1 && team_cores.value_or(1) > 1)
        checker.error(
            "/team_cores",
            "is above 1 beside nested_threads, with which a team is a thread; expected one of the "
            "two");
    if (team_cores && strategy == offload::Strategy::kLibrary)
        checker.error(
            "/team_cores", "is for own loops, and the strategy is library; expected two_level");
    if (copies_at_once &&
        (strategy == offload::Strategy::kLibrary || gradients == offload::GradientSum::kAtomics))
        checker.error(
            "/copies_at_once", "is for copies of the gradients, which library and atomics lack; "
                               "expected two_level with copies");
    if (nested_threads > 1 && strategy == offload::Strategy::kLibrary)
        checker.error(
            "/nested_threads",
            "is for regions of own loops, and the strategy is library; expected two_level, or 1");
}

}  // namespace switchfold

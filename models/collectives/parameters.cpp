// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/parameters.h"

#include <fmt/format.h>

namespace switchfold {

void CollectiveParams::check(ParamChecker& checker) const {
    // What a thread loads and stores at once: no element lies in two pieces.
    constexpr std::uint64_t kVector = 16;
    if (transfer_unit.count() % kVector != 0)
        checker.error(
            "/transfer_unit",
            fmt::format("is {}; expected a multiple of {} B", to_string(transfer_unit), kVector));
}

}  // namespace switchfold

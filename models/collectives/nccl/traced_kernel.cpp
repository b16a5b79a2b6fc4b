// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/nccl/traced_kernel.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace switchfold {

bool traced_with_rings(const CollectiveOperation& collective) {
    constexpr std::array<std::string_view, 4> kTheirs{"", "ring", "tree", "pat"};
    return std::find(kTheirs.begin(), kTheirs.end(), collective.algorithm.text()) != kTheirs.end();
}

}  // namespace switchfold

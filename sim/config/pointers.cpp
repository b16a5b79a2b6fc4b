// SPDX-License-Identifier: Apache-2.0
#include "sim/config/pointers.h"

#include <algorithm>

namespace switchfold {

bool related(std::string_view a, std::string_view b) {
    const std::string_view shorter = a.size() < b.size() ? a : b;
    const std::string_view longer = a.size() < b.size() ? b : a;
    return longer.starts_with(shorter) &&
           (longer.size() == shorter.size() || longer[shorter.size()] == '/');
}

void order_overrides(std::vector<Override>& overrides) {
    std::stable_sort(overrides.begin(), overrides.end(), [](const Override& a, const Override& b) {
        return a.pointer.size() < b.pointer.size();
    });
}

}  // namespace switchfold

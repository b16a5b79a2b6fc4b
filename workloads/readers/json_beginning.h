// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// What the first bytes of a JSON file show of its form.
struct JsonBeginning {
    bool list = false;              ///< of the objects that `keys` are of
    bool lines = false;             ///< more than one value, one behind the other
    std::vector<std::string> keys;  ///< of the first object, as far as the bytes reach

    [[nodiscard]] bool has(std::string_view key) const;
};

/// \returns no keys for anything but JSON.
[[nodiscard]] JsonBeginning json_beginning(std::string_view beginning);

}  // namespace switchfold

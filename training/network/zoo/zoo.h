// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"

#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// Names of the built-in networks, in the order of their families.
[[nodiscard]] std::vector<std::string_view> network_names();

/// The network of that name, computed from its architecture; empty if there is none.
[[nodiscard]] std::optional<Network> find_network(std::string_view name);

}  // namespace switchfold

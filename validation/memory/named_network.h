// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "training/network/zoo/zoo.h"

#include <string_view>
#include <utility>

namespace switchfold::validation {

/// Bytes of a number of single precision, in which these rows' tensors are.
inline constexpr double kSingle = sizeof(float);

/// \pre a network has this name
[[nodiscard]] inline Network network_named(std::string_view name) {
    auto network = find_network(name);
    SWITCHFOLD_CHECK(network.has_value(), "no network {}", name);
    return std::move(*network);
}

}  // namespace switchfold::validation

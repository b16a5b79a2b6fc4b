// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// One dimension of a network of ASTRA-sim's analytical backends.
struct AstraDimension {
    std::string shape;  ///< Ring, FullyConnected or Switch
    std::uint32_t npus = 2;
    double bandwidth = 0;  ///< GB/s
    double latency = 0;    ///< ns
};
struct AstraNetwork {
    std::vector<AstraDimension> dimensions;  ///< the first varies fastest with the rank
    std::vector<std::string> unknown;        ///< keys without a counterpart
};
/// Throws ConfigError (line or key).
[[nodiscard]] AstraNetwork
read_astra_network(const std::filesystem::path& file, std::uint32_t ranks);

/// The topology of a system like it. Of several dimensions: a router beside each GPU, which has the
/// links of all of them.
[[nodiscard]] OrderedJson topology_of(const AstraNetwork& network);
}  // namespace switchfold

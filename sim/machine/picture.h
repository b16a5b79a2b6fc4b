// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <string>

namespace switchfold {

/// A machine's nodes in rows and its links between them, as SVG: colours by kind of link with their
/// rates beside them. Two machines are drawn in full, further ones and long rows only counted.
[[nodiscard]] std::string
picture_of(const Topology& topology, const std::string& name, const std::string& gpus);

}  // namespace switchfold

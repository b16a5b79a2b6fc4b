// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "interconnect/topology.h"
#include "interconnect/unit_cost.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Switches of one make, as many lanes and tables, whose ports have reduction units.
struct UnitKind {
    std::string example;  ///< name of the first one
    std::uint32_t switch_class = 0;
    std::uint32_t lanes = 0;   ///< of one switch
    std::uint32_t tables = 1;  ///< of a lane
    std::uint64_t switches = 0;
    UnitCost lane;  ///< of one lane's unit
};

/// In the order of the topology; empty if nothing reduces. Throws ConfigError for a process of
/// which no numbers are known.
[[nodiscard]] std::vector<UnitKind> unit_kinds(const Topology& topology, std::uint32_t node);

/// Area and energy of a system's units in a line each; empty if it has none.
[[nodiscard]] std::string describe_units(const Topology& topology, std::uint32_t node);
[[nodiscard]] OrderedJson units_json(const Topology& topology, std::uint32_t node);

}  // namespace switchfold

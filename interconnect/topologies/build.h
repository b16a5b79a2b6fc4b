// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Each function returns the index of what it added.
std::uint32_t add_node(
    Topology& topology, NodeKind kind, std::string name, std::uint32_t switch_class,
    std::uint32_t machine);
std::uint32_t add_link_class(Topology& topology, const LinkParams& link);
std::uint32_t add_switch_class(Topology& topology, const SwitchParams& node);

/// Adds GPUs of one machine; their names are their ranks.
void add_gpus(Topology& topology, std::uint32_t count);
void join(
    Topology& topology, std::uint32_t a, std::uint32_t b, std::uint32_t lanes,
    std::uint32_t link_class);

/// Rejects switches with more lanes than ports. `classes` holds the pointers to the switch classes'
/// parameters, in the topology's order.
void check_ports(
    const Topology& topology, ParamChecker& checker, const std::vector<std::string_view>& classes);

/// For every GPU without a path to some earlier GPU, that pair. Beyond 512 GPUs only paths to the
/// first GPU and to the predecessor are checked.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>>
separate_gpus(const Topology& topology);

}  // namespace switchfold

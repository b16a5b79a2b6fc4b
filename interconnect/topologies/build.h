// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "sim/core/params.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Each returns the index of what it added.
std::uint32_t add_node(
    Topology& topology,
    NodeKind kind,
    std::string name,
    std::uint32_t switch_class,
    std::uint32_t machine);
std::uint32_t add_link_class(Topology& topology, const LinkParams& link);
std::uint32_t add_switch_class(Topology& topology, const SwitchParams& node);

/// GPUs of one machine; their names are their ranks.
void add_gpus(Topology& topology, std::uint32_t count);
void join(
    Topology& topology,
    std::uint32_t a,
    std::uint32_t b,
    std::uint32_t lanes,
    std::uint32_t link_class);

/// Refuses switches with more lanes than ports. `classes` are the pointers of the switch classes'
/// parameters, in their order in the topology.
void check_ports(
    const Topology& topology, ParamChecker& checker, const std::vector<std::string_view>& classes);

/// For every GPU that has no path to some GPU before it: the pair of them. Beyond 512 GPUs only the
/// first GPU and each one's predecessor are tried.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>>
separate_gpus(const Topology& topology);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <optional>

namespace switchfold {

/// A machine's PCIe and host: interconnected root complexes (sockets), PCIe switches below them,
/// GPUs distributed evenly, and memory behind each root complex.
struct PcieTree {
    std::uint32_t roots = 1;
    std::uint32_t switches = 0;
    LinkParams gpu_link;
    std::optional<LinkParams> switch_link;
    std::optional<LinkParams> root_link;
    std::optional<LinkParams> memory_link;
    SwitchParams root;
    SwitchParams node;
    SwitchParams memory;

    static constexpr auto fields() {
        return list_of(
            field("roots", &PcieTree::roots, "Root complexes, one per socket.", 1U, 64U),
            field(
                "switches", &PcieTree::switches,
                "PCIe switches below all root complexes; 0: GPUs are attached to the root "
                "complexes.",
                0U, 1024U),
            field("gpu_link", &PcieTree::gpu_link, "Each GPU's link.").required(),
            field(
                "switch_link", &PcieTree::switch_link,
                "Each PCIe switch's link to its root complex; needed with switches."),
            field(
                "root_link", &PcieTree::root_link,
                "The links between root complexes; needed with several."),
            field(
                "memory_link", &PcieTree::memory_link,
                "Each root complex's path to its memory, the end of its GPUs' host copies; absent: "
                "memory is never the bottleneck."),
            field("root", &PcieTree::root, "The root complexes.").required(),
            field("switch", &PcieTree::node, "The PCIe switches."),
            field("memory", &PcieTree::memory, "Host memory: latency of a write and a read."));
    }
    void check(ParamChecker& checker) const;
    /// Adds the tree to a machine that already has its GPUs.
    void add_to(Topology& topology) const;
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "app/described_fabric.h"

#include "core/error.h"
#include "core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <variant>

namespace switchfold {

namespace {

/// Lanes of each GPU to every switch, in the switches' order; empty if GPUs differ.
std::vector<std::uint32_t> lanes_to_switch(const DescribedMachine& machine) {
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> of_gpu;
    for (const DescribedLink& link : machine.to_switches)
        of_gpu[link.gpu][link.to] += link.lanes;
    std::vector<std::uint32_t> lanes;
    if (of_gpu.size() != machine.gpus.size())
        return {};
    for (const auto& [gpu, to] : of_gpu) {
        std::vector<std::uint32_t> own;
        for (const auto& [node, count] : to)
            own.push_back(count);
        if (!lanes.empty() && own != lanes)
            return {};
        lanes = own;
    }
    return lanes;
}

/// How many links to switches GPUs have, each number once.
std::set<std::uint32_t> links_to_switches(const DescribedMachine& machine) {
    std::vector<std::uint32_t> of_gpu(machine.gpus.size());
    for (const DescribedLink& link : machine.to_switches)
        of_gpu[link.gpu] += link.lanes;
    return {of_gpu.begin(), of_gpu.end()};
}

/// The lanes of every pair, if they are equal.
std::optional<std::uint32_t> lanes_of_pairs(const DescribedMachine& machine) {
    const std::size_t n = machine.gpus.size();
    if (n < 2 || machine.to_gpus.size() != n * (n - 1))
        return {};
    const std::uint32_t first = machine.to_gpus.front().lanes;
    return std::ranges::all_of(
               machine.to_gpus, [&](const DescribedLink& link) { return link.lanes == first; })
               ? std::optional(first)
               : std::nullopt;
}

/// Links of a GPU to all switches; 0: it has none.
std::uint32_t links_of_gpu(const TopologyParams& topology) {
    if (const auto* boards = std::get_if<BoardsTopology>(&topology))
        return boards->switches_per_board * boards->lanes_to_switch;
    if (const auto* switched = std::get_if<SwitchedTopology>(&topology))
        return std::accumulate(
            switched->lanes_to_switch.begin(), switched->lanes_to_switch.end(), 0U);
    return 0;
}

std::vector<std::string> switches_told(
    const DescribedMachine& machine, const Base& base, const std::string& from,
    std::vector<std::string>& notes) {
    const std::string name = base.file.stem().string();
    const std::uint32_t of_base = links_of_gpu(*base.system.topology);
    const auto* const boards = std::get_if<BoardsTopology>(&*base.system.topology);
    if (boards != nullptr && boards->boards * boards->gpus_per_board != machine.gpus.size())
        throw ConfigError(
            from, "",
            fmt::format(
                "has {} GPUs at switches, and {} has {} boards of {}; expected as many, or a "
                "system written by hand over it (switchfold new system --system {})",
                machine.gpus.size(), name, boards->boards, boards->gpus_per_board, name));
    const std::vector<std::uint32_t> lanes = lanes_to_switch(machine);
    if (boards == nullptr && machine.switches > 0 && !lanes.empty())
        return {fmt::format("\"lanes_to_switch\": {}", Json(lanes).dump())};
    const std::set<std::uint32_t> told = machine.to_switches.empty()
                                             ? std::set{lanes_of_pairs(machine).value_or(0)}
                                             : links_to_switches(machine);
    if (told == std::set{of_base}) {
        notes.push_back(
            machine.switches > 0
                ? fmt::format(
                      "how a GPU's {} links are shared among switches is {}'s: GPUs differ in "
                      "that, or stand on boards",
                      of_base, name)
                : fmt::format(
                      "how {} links are shared among switches is {}'s: {} does not say", of_base,
                      name, from));
        return {};
    }
    if (machine.switches > 0)
        throw ConfigError(
            from, "",
            fmt::format(
                "has GPUs with {} links to switches, and those of {} have {}; expected GPUs with "
                "equal links, or a system written by hand over it (switchfold new system --system "
                "{})",
                fmt::join(told, ", "), name, of_base, name));
    throw ConfigError(
        from, "",
        fmt::format(
            "lists {} links of a GPU to switches, but {} has {}, and it does not say how many "
            "switches share them; expected an NCCL topology (--nccl-topology) that names the "
            "switches",
            fmt::join(told, ", "), name, of_base));
}

std::vector<std::string> edges_told(const DescribedMachine& machine, const Base& base) {
    std::vector<Json> edges;
    for (const DescribedLink& link : machine.to_gpus)
        if (link.gpu < link.to)
            edges.push_back({{"a", link.gpu}, {"b", link.to}, {"lanes", link.lanes}});
    return {fmt::format(
        "\"{}\": {}",
        std::holds_alternative<DirectTopology>(*base.system.topology) ? "edges" : "bridges",
        Json(edges).dump())};
}

std::vector<std::string>
pcie_told(const DescribedMachine& machine, const Base& base, std::vector<std::string>& notes) {
    const auto& own = std::get<PcieTopology>(*base.system.topology);
    const std::string name = base.file.stem().string();
    std::vector<std::string> lines;
    if (!own.bridges.empty())
        lines.push_back("\"bridges\": []");
    if (machine.hosts > 1 && !own.root_link)
        notes.push_back(fmt::format(
            "GPUs are on {} processors; {} has one, and no link to another: root_link is to be "
            "measured",
            machine.hosts, name));
    else if (machine.hosts > 0)
        lines.push_back(fmt::format("\"roots\": {}", machine.hosts));
    if (machine.pcie_switches > 0 && own.switch_link)
        lines.push_back(fmt::format("\"switches\": {}", machine.pcie_switches));
    else if (machine.pcie_switches > 0)
        notes.push_back(fmt::format(
            "GPUs share {} PCIe switch{}; {} has none: switches and switch_link are to be added",
            machine.pcie_switches, machine.pcie_switches == 1 ? "" : "es", name));
    return lines;
}

}  // namespace

std::string_view words_of(Fabric fabric) {
    switch (fabric) {
    case Fabric::kSwitched:
        return "switches";
    case Fabric::kMesh:
        return "equal links between all pairs";
    case Fabric::kDirect:
        return "links between some pairs";
    case Fabric::kPcie:
        return "PCIe alone";
    }
    return "?";
}

bool Base::is_of(Fabric fabric) const {
    const TopologyParams& topology = *system.topology;
    const auto* const pcie = std::get_if<PcieTopology>(&topology);
    switch (fabric) {
    case Fabric::kSwitched:
        return links_of_gpu(topology) > 0;
    case Fabric::kMesh:
        return std::holds_alternative<FullMeshTopology>(topology);
    case Fabric::kDirect:
        return std::holds_alternative<DirectTopology>(topology) ||
               (pcie != nullptr && !pcie->bridges.empty());
    case Fabric::kPcie:
        return pcie != nullptr;
    }
    return false;
}

Fabric fabric_of(const DescribedMachine& machine, std::span<const Base* const> systems) {
    if (!machine.to_switches.empty())
        return Fabric::kSwitched;
    if (machine.to_gpus.empty())
        return Fabric::kPcie;
    const std::optional<std::uint32_t> mesh = lanes_of_pairs(machine);
    if (!mesh)
        return Fabric::kDirect;
    const auto has = [&](Fabric fabric) {
        return std::ranges::any_of(systems, [&](const Base* base) { return base->is_of(fabric); });
    };
    // Where switches are between, all links of a GPU lead to any other.
    const bool all_links = std::ranges::any_of(
        systems, [&](const Base* base) { return links_of_gpu(*base->system.topology) == *mesh; });
    if (machine.switches_hidden && (all_links || (has(Fabric::kSwitched) && !has(Fabric::kMesh))))
        return Fabric::kSwitched;
    return has(Fabric::kMesh) ? Fabric::kMesh : Fabric::kDirect;
}

std::vector<std::string> links_told(
    const DescribedMachine& machine, Fabric fabric, const Base& base, const std::string& from,
    std::vector<std::string>& notes) {
    switch (fabric) {
    case Fabric::kSwitched:
        return switches_told(machine, base, from, notes);
    case Fabric::kMesh:
        return {fmt::format("\"lanes\": {}", lanes_of_pairs(machine).value_or(1))};
    case Fabric::kDirect:
        return edges_told(machine, base);
    case Fabric::kPcie:
        return pcie_told(machine, base, notes);
    }
    return {};
}

}  // namespace switchfold

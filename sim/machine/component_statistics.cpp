// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/component_statistics.h"

#include "sim/config/statistics_docs.h"
#include "sim/machine/machine.h"
#include "sim/machine/reduction_units.h"
#include "sim/many_core/region_statistics.h"
#include "sim/output/figures.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <type_traits>

namespace switchfold {

namespace {

/// Statistics of a link that are only known at the end of the run.
struct LinkUse {
    double utilization = 0;
    static constexpr auto statistics() {
        return list_of(statistic(
            "utilization", &LinkUse::utilization, Unit::kShare,
            "`wire_bytes` over what the link could carry in the whole run, 0 to 1."));
    }
};

/// Statistics of a reduction unit that are only known at the end of the run.
struct UnitUse {
    double busy_share = 0;
    static constexpr auto statistics() {
        return list_of(statistic(
            "busy_share", &UnitUse::busy_share, Unit::kShare,
            "`busy_us` over the whole run, 0 to 1."));
    }
};

struct Tables {
    StatisticTable links = StatisticTable::of<LinkStatistics, LinkUse>(
        "links", "One direction of a link, named after its ends and its number.");
    StatisticTable switches = StatisticTable::of<SwitchStatistics>(
        "switches", "A node that forwards packets: a switch, a NIC, a host.");
    StatisticTable units = StatisticTable::of<ReductionUnitStatistics, UnitUse>(
        "reduction_units", "The unit of a switch port, named after the link into the port.");
    StatisticTable gpus = StatisticTable::of<GpuStatistics>("gpus", "A GPU, named after its rank.");
    StatisticTable memory = StatisticTable::of<MemoryStatistics>(
        "memory", "L2 and HBM of a GPU, named after its rank.");
    StatisticTable copies = StatisticTable::of<HostCopyStatistics>(
        "host_copies",
        "Copies between a GPU, named after its rank, and its host, where the topology has links "
        "for them.");
    /// Only of units whose entries are watched.
    StatisticTable entries = StatisticTable::of<EntryStatistics>(
        "reduction_entries",
        "What the entries of a reduction unit waited for, where `watch_entries` asks for it, named "
        "like the unit. Of what was simulated: `exact` simulates all.");
    /// Only where the network between machines does something about congestion.
    StatisticTable congested = StatisticTable::of<CongestedLinkStatistics>(
        "congested_links",
        "What congestion did to a link of the network between machines, named like the link. Only "
        "where the topology has `congestion`.");
    StatisticTable flows = StatisticTable::of<FlowStatistics>(
        "flows",
        "What congestion did to what one GPU sent to one of another machine, named after the two. "
        "Only where the topology has `congestion`.");
    /// Those that a run may be without.
    [[nodiscard]] std::vector<const StatisticTable*> special() const {
        return {&entries, &congested, &flows};
    }
    [[nodiscard]] std::vector<StatisticTable> all() const {
        std::vector<StatisticTable> tables{links, switches, units, gpus, memory, copies};
        for (const StatisticTable* table : special())
            if (!table->rows.empty())
                tables.push_back(*table);
        return tables;
    }
};

/// A module's own name, without its parents'.
std::string last_name(const sc_core::sc_object& object) {
    const std::string name = object.name();
    return name.substr(name.rfind('.') + 1);
}

double utilization(const LinkStatistics& counted, const Link& link, Time end) {
    if (end == Time())
        return 0;
    return static_cast<double>(counted.wire_bytes) / static_cast<double>(link.bandwidth().count()) /
           to_seconds(end);
}

/// What grows with the data that pass, so many times.
template <class S>
S times(const S& counted, double factor) {
    S all = counted;
    const auto scale = [&](const auto& statistic) {
        if (statistic.peak)
            return;
        auto& value = all.*(statistic.member);
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Time>)
            value = Time(static_cast<std::uint64_t>(
                std::llround(static_cast<double>(value.count()) * factor)));
        else
            value = static_cast<Value>(std::llround(static_cast<double>(value) * factor));
    };
    for_each_of(S::statistics(), scale);
    return all;
}

/// By node, the packets that come to it over links.
std::vector<double> entering(const Topology& topology, const std::vector<LinkStatistics>& links) {
    std::vector<double> packets(topology.nodes.size());
    for (std::uint32_t hop = 0; hop < links.size(); ++hop)
        packets[topology.end_of(hop)] += static_cast<double>(links[hop].packets);
    return packets;
}

/// Gives the parts that were not simulated the counts of those that they resemble.
void unfold(TrafficStatistics& all, Machine& machine, const RankSymmetry& fold) {
    const TrafficStatistics simulated = all;
    std::vector<std::uint32_t> links;                  // into the ports of the units, in order
    std::map<std::uint32_t, std::size_t> unit_behind;  // of such a link
    for_each_unit(machine.fabric(), [&](const Link& link, const ReductionUnit& /*unit*/) {
        unit_behind.emplace(link.id(), links.size());
        links.push_back(link.id());
    });
    for (std::size_t i = 0; i < links.size(); ++i) {
        const auto image = unit_behind.find(fold.image_of_hop[links[i]]);
        all.units[i] =
            image == unit_behind.end() ? ReductionUnitStatistics() : simulated.units[image->second];
    }
    for (std::size_t hop = 0; hop < all.links.size(); ++hop) {
        const std::uint32_t image = fold.image_of_hop[hop];
        all.links[hop] = image == RankSymmetry::kIdle ? LinkStatistics() : simulated.links[image];
        if (!fold.times_of_hop.empty())
            all.links[hop] = times(all.links[hop], fold.times_of_hop[hop]);
    }
    const Topology& topology = machine.fabric().topology();
    const std::vector<double> kept = entering(topology, simulated.links);
    const std::vector<double> whole = entering(topology, all.links);
    const std::size_t gpus = fold.image_of_node.size() - all.switches.size();
    for (std::size_t i = 0; i < all.switches.size(); ++i) {
        const std::uint32_t image = fold.image_of_node[gpus + i];
        all.switches[i] = SwitchStatistics();
        if (image != RankSymmetry::kIdle && kept[image] > 0)
            all.switches[i] =
                times(simulated.switches[image - gpus], whole[gpus + i] / kept[image]);
    }
    all.memory.resize(fold.ranks());
    for (std::uint32_t rank = 0; rank < fold.ranks(); ++rank)
        all.memory[rank] = simulated.memory[fold.image_of_rank[rank]];
}

StatisticTable figure_table() {
    StatisticTable table{
        "scenarios", "A scenario in a few numbers, and its columns in a sweep.", {}, {}};
    for (const Figure& figure : kFigures)
        table.columns.push_back(
            {std::string(figure.key), figure.unit, std::string(figure.meaning)});
    return table;
}

StatisticTable cause_table() {
    StatisticTable table{
        "slowdown_by_cause",
        "Causes of the slowdown of the backward pass, and in `causes_by_phase` of each phase: the "
        "mean of what this mechanism adds to none and what goes away without it, and its part of "
        "what mechanisms do to each other, so that causes add up. In a sweep's columns with "
        "`cause_` "
        "before them, of other phases with `forward_cause_` and so on.",
        {},
        {}};
    for (const Cause& cause : kCauses)
        table.columns.push_back(
            {std::string(cause.key), Unit::kShare, std::string(cause.title) + "."});
    return table;
}

}  // namespace

std::vector<StatisticTable> collect_statistics(
    Machine& machine, const MachineCounts& counts, Time end,
    const std::optional<RankSymmetry>& fold) {
    Tables tables;
    TrafficStatistics all = counts.counted();
    if (fold)
        unfold(all, machine, *fold);
    const auto links = machine.fabric().links();
    for (std::size_t i = 0; i < links.size(); ++i)
        tables.links.add(
            last_name(*links[i]), all.links[i], LinkUse{utilization(all.links[i], *links[i], end)});
    const auto switches = machine.fabric().switches();
    for (std::size_t i = 0; i < switches.size(); ++i)
        tables.switches.add(last_name(*switches[i]), all.switches[i]);
    auto counted = all.units.begin();
    for_each_unit(machine.fabric(), [&](const Link& link, const ReductionUnit& unit) {
        if (const EntryStatistics* entries = unit.entry_statistics())
            tables.entries.add(last_name(link), *entries);
        const double busy = end == Time() ? 0 : to_seconds(counted->busy_time) / to_seconds(end);
        tables.units.add(last_name(link), *counted++, UnitUse{busy});
    });
    for (std::uint32_t rank = 0; rank < all.memory.size(); ++rank) {
        const std::string name = fmt::format("gpu{}", rank);
        const std::uint32_t simulated = fold ? fold->image_of_rank[rank] : rank;
        tables.gpus.add(name, machine.gpu(simulated).statistics());
        tables.memory.add(name, all.memory[rank]);
        if (const HostCopyStatistics* copies = machine.copies(simulated).host_statistics())
            tables.copies.add(name, *copies);
    }
    if (const Congestion* congestion = machine.fabric().congestion()) {
        for (const auto& [link, of_link] : congestion->link_statistics())
            tables.congested.add(last_name(*link), of_link);
        for (const auto& [name, of_flow] : congestion->flow_statistics())
            tables.flows.add(name, of_flow);
    }
    return tables.all();
}

std::string statistics_docs() {
    std::string out = "\n" + docs_of(figure_table()) + "\n" + docs_of(cause_table());
    const Tables tables;
    for (const StatisticTable& table : tables.all())
        out += "\n" + docs_of(table);
    for (const StatisticTable* table : tables.special())
        out += "\n" + docs_of(*table);
    out += "\n" + docs_of(region_table());
    return out;
}

}  // namespace switchfold

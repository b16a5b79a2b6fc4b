// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/component_statistics.h"

#include "sim/config/statistics_docs.h"
#include "sim/machine/machine.h"
#include "sim/machine/reduction_units.h"
#include "sim/many_core/region_statistics.h"
#include "sim/output/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
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

TrafficStatistics statistics_of(Machine& machine) {
    TrafficStatistics all;
    all.links.reserve(machine.fabric().links().size());
    all.switches.reserve(machine.fabric().switches().size());
    all.memory.reserve(machine.ranks());
    for (const auto& link : machine.fabric().links())
        all.links.push_back(link->statistics());
    for (const auto& node : machine.fabric().switches())
        all.switches.push_back(node->statistics());
    for_each_unit(machine.fabric(), [&](const Link& /*link*/, const ReductionUnit& unit) {
        all.units.push_back(unit.statistics());
    });
    for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank)
        all.memory.push_back(machine.gpu(rank).memory().statistics());
    return all;
}

/// Visits every number that grows with the data that pass, which peaks do not: one of all
/// components of a kind, then their next.
template <class Visit>
void for_each_sum(TrafficStatistics& all, const Visit& visit) {
    const auto visit_all = [&]<class S>(std::vector<S>& components) {
        const auto visit_one = [&](const auto& statistic) {
            for (S& component : components)
                if (!statistic.peak)
                    visit(component.*(statistic.member));
        };
        for_each_of(S::statistics(), visit_one);
    };
    visit_all(all.links);
    visit_all(all.switches);
    visit_all(all.units);
    visit_all(all.memory);
}

/// Visits the sums of component `index` of a kind, in the order of for_each_sum, with the place of
/// each among all; `begin` is that of the kind's first.
template <class S, class Visit>
void for_each_sum_of(
    const S& component, std::size_t begin, std::size_t components, std::size_t index,
    const Visit& visit) {
    const auto visit_one = [&](const auto& statistic) {
        if (statistic.peak)
            return;
        const auto sum = component.*(statistic.member);
        if constexpr (std::is_same_v<std::remove_const_t<decltype(sum)>, Time>)
            visit(begin + index, sum.count());
        else
            visit(begin + index, std::uint64_t{sum});
        begin += components;
    };
    for_each_of(S::statistics(), visit_one);
}

/// Of a component.
template <class S>
std::size_t sums_of() {
    std::size_t count = 0;
    const auto visit = [&](const auto& statistic) { count += statistic.peak ? 0 : 1; };
    for_each_of(S::statistics(), visit);
    return count;
}

/// Number of a component's sums before this one.
template <class S>
std::size_t place_of_sum(std::uint64_t S::*member) {
    std::size_t count = 0;
    std::size_t place = 0;
    const auto visit = [&](const auto& statistic) {
        if constexpr (std::is_same_v<
                          std::remove_cvref_t<decltype(statistic.member)>, std::uint64_t S::*>)
            if (statistic.member == member)
                place = count;
        count += statistic.peak ? 0 : 1;
    };
    for_each_of(S::statistics(), visit);
    return place;
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

MachineCounts::MachineCounts(Machine& machine) : machine_(machine) {
    for_each_unit(machine.fabric(), [&](const Link& link, const ReductionUnit& unit) {
        units_.push_back({link.id(), &unit});
    });
}

std::size_t MachineCounts::first_of_switches() const {
    return sums_of<LinkStatistics>() * machine_.fabric().links().size();
}

std::size_t MachineCounts::first_of_units() const {
    return first_of_switches() + sums_of<SwitchStatistics>() * machine_.fabric().switches().size();
}

std::size_t MachineCounts::first_of_memory() const {
    return first_of_units() + sums_of<ReductionUnitStatistics>() * units_.size();
}

std::vector<std::uint64_t> MachineCounts::simulated() const {
    TrafficStatistics all = statistics_of(machine_);
    std::vector<std::uint64_t> sums;
    for_each_sum(all, [&](auto& sum) {
        if constexpr (std::is_same_v<std::remove_reference_t<decltype(sum)>, Time>)
            sums.push_back(sum.count());
        else
            sums.push_back(sum);
    });
    return sums;
}

std::vector<TrafficCounts::Count>
MachineCounts::simulated_on(const std::vector<std::uint32_t>& links) const {
    Fabric& fabric = machine_.fabric();
    const std::size_t gpus = fabric.topology().nodes.size() - fabric.switches().size();
    std::vector<Count> counts;
    const auto add = [&](std::size_t begin, std::size_t components, std::size_t index,
                         const auto& component) {
        for_each_sum_of(
            component, begin, components, index, [&](std::size_t place, std::uint64_t sum) {
                counts.push_back({place, static_cast<double>(sum)});
            });
    };
    const std::size_t all_links = fabric.links().size();
    const std::size_t all_switches = fabric.switches().size();
    std::set<std::uint32_t> ends;
    for (const std::uint32_t hop : links) {
        const LinkStatistics of_link = fabric.links()[hop]->statistics();
        add(0, all_links, hop, of_link);
        const std::uint32_t node = fabric.topology().end_of(hop);
        if (node >= gpus) {
            SwitchStatistics came_in;
            came_in.packets = of_link.packets;
            add(first_of_switches(), all_switches, node - gpus, came_in);
        } else if (ends.insert(node).second) {
            add(first_of_memory(), machine_.ranks(), node,
                machine_.gpu(node).memory().statistics());
        }
    }
    return counts;
}

template <class Visit>
void MachineCounts::for_each_count(const TrafficPart& part, const Visit& visit) const {
    Fabric& fabric = machine_.fabric();
    for (const std::uint32_t link : part.links)
        for_each_sum_of(fabric.links()[link]->statistics(), 0, fabric.links().size(), link, visit);
    for (const std::uint32_t unit : part.units)
        for_each_sum_of(
            units_[unit].unit->statistics(), first_of_units(), units_.size(), unit, visit);
    for (const std::uint32_t gpu : part.gpus)
        for_each_sum_of(
            machine_.gpu(gpu).memory().statistics(), first_of_memory(), machine_.ranks(), gpu,
            visit);
    for (const std::uint32_t node : part.switches)
        for_each_sum_of(
            fabric.switches()[node]->statistics(), first_of_switches(), fabric.switches().size(),
            node, visit);
}

TrafficPart MachineCounts::part_of(const std::vector<std::uint32_t>& links) const {
    const Fabric& fabric = machine_.fabric();
    const Topology& topology = fabric.topology();
    const std::size_t gpus = topology.nodes.size() - fabric.switches().size();
    TrafficPart part;
    part.links = links;
    std::set<std::uint32_t> ends;
    std::map<std::uint32_t, TrafficPart::Shared> shared;
    for (std::size_t i = 0; i < links.size(); ++i) {
        const std::uint32_t node = topology.end_of(links[i]);
        if (node < gpus)
            ends.insert(node);
        else
            shared[static_cast<std::uint32_t>(node - gpus)].came_over.push_back(
                i * sums_of<LinkStatistics>() + place_of_sum(&LinkStatistics::packets));
    }
    for (std::uint32_t unit = 0; unit < units_.size(); ++unit)
        if (std::ranges::binary_search(links, units_[unit].link))
            part.units.push_back(unit);
    part.gpus.assign(ends.begin(), ends.end());
    std::size_t next = links.size() * sums_of<LinkStatistics>() +
                       part.units.size() * sums_of<ReductionUnitStatistics>() +
                       part.gpus.size() * sums_of<MemoryStatistics>();
    for (auto& [node, of] : shared) {
        part.switches.push_back(node);
        of.first = next;
        of.size = sums_of<SwitchStatistics>();
        of.packets = next + place_of_sum(&SwitchStatistics::packets);
        next += of.size;
        part.shared.push_back(std::move(of));
    }
    for_each_count(
        part, [&](std::size_t place, std::uint64_t /*sum*/) { part.places.push_back(place); });
    return part;
}

std::vector<std::uint64_t> MachineCounts::simulated_in(const TrafficPart& part) const {
    std::vector<std::uint64_t> sums;
    sums.reserve(part.places.size());
    for_each_count(part, [&](std::size_t /*place*/, std::uint64_t sum) { sums.push_back(sum); });
    return sums;
}

std::span<const double> MachineCounts::wire_bytes_left_out() const {
    const std::size_t links = machine_.fabric().links().size();
    return std::span(left_out()).subspan(place_of_sum(&LinkStatistics::wire_bytes) * links, links);
}

double MachineCounts::memory_bytes_left_out(std::uint32_t rank) const {
    const std::size_t place = place_of_sum(&MemoryStatistics::packet_bytes);
    return left_out()[first_of_memory() + place * machine_.ranks() + rank];
}

TrafficStatistics MachineCounts::counted() const {
    TrafficStatistics all = statistics_of(machine_);
    if (left_out().empty())
        return all;
    auto due_of = left_out().begin();
    double owed = 0;  // by rounding: the sum over components is that of what was left out
    for_each_sum(all, [&](auto& sum) {
        using Sum = std::remove_reference_t<decltype(sum)>;
        const double due = *due_of++ + owed;
        const double whole = std::floor(due + 0.5);
        owed = due - whole;
        sum += Sum(static_cast<std::uint64_t>(whole));
    });
    return all;
}

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

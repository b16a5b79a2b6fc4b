// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/machine_counts.h"

#include "core/statistics.h"
#include "sim/machine/machine.h"
#include "sim/machine/reduction_units.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

namespace switchfold {

namespace {

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

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/run/component_statistics.h"

#include "sim/output/scenario_figures.h"
#include "sim/run/machine.h"

#include <fmt/format.h>

#include <tuple>

namespace switchfold {

namespace {

/// What of a link only the whole run tells.
struct LinkUse {
    double utilization = 0;
    static constexpr auto statistics() {
        return std::tuple{statistic(
            "utilization",
            &LinkUse::utilization,
            Unit::kShare,
            "`wire_bytes` over what the link could carry in the whole run, 0 to 1.")};
    }
};

/// What of a reduction unit only the whole run tells.
struct UnitUse {
    double busy_share = 0;
    static constexpr auto statistics() {
        return std::tuple{statistic(
            "busy_share",
            &UnitUse::busy_share,
            Unit::kShare,
            "`busy_us` over the whole run, 0 to 1.")};
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
    [[nodiscard]] std::vector<StatisticTable> all() const {
        return {links, switches, units, gpus, memory};
    }
};

/// A module's name without those of the modules that it is in.
std::string last_name(const sc_core::sc_object& object) {
    const std::string name = object.name();
    return name.substr(name.rfind('.') + 1);
}

double utilization(const Link& link, Time end) {
    if (end == Time())
        return 0;
    return static_cast<double>(link.statistics().wire_bytes) /
           static_cast<double>(link.bandwidth().count()) / to_seconds(end);
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
        "Causes of a scenario's slowdown: what goes away when this mechanism alone is switched "
        "off. In a "
        "sweep's columns with `cause_` before them.",
        {},
        {}};
    for (const Cause& cause : kCauses)
        table.columns.push_back(
            {std::string(cause.key), Unit::kShare, std::string(cause.title) + "."});
    return table;
}

}  // namespace

std::vector<StatisticTable> collect_statistics(Machine& machine, Time end) {
    Tables tables;
    for (const auto& link : machine.fabric().links())
        tables.links.add(last_name(*link), link->statistics(), LinkUse{utilization(*link, end)});
    for (const auto& node : machine.fabric().switches()) {
        tables.switches.add(last_name(*node), node->statistics());
        for (std::size_t port = 0; port < node->incoming().size(); ++port)
            if (const ReductionUnit* unit = node->unit(port))
                tables.units.add(
                    last_name(*node->incoming()[port]),
                    unit->statistics(),
                    UnitUse{
                        end == Time()
                            ? 0
                            : to_seconds(unit->statistics().busy_time) / to_seconds(end)});
    }
    for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank) {
        Gpu& gpu = machine.gpu(rank);
        const std::string name = fmt::format("gpu{}", rank);
        tables.gpus.add(name, gpu.statistics());
        tables.memory.add(name, gpu.memory().statistics());
    }
    return tables.all();
}

std::string statistics_docs() {
    std::string out = "\n" + docs_of(figure_table()) + "\n" + docs_of(cause_table());
    for (const StatisticTable& table : Tables().all())
        out += "\n" + docs_of(table);
    return out;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/results/explorer_files.h"

#include "core/csv.h"
#include "core/json_text.h"
#include "interconnect/hop.h"
#include "interconnect/topology_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace switchfold {

namespace {

std::string_view kind_of(const OperationBody& body) {
    if (std::holds_alternative<CollectiveOperation>(body))
        return "collective";
    if (std::holds_alternative<SendOperation>(body))
        return "send";
    if (std::holds_alternative<ReceiveOperation>(body))
        return "receive";
    return std::holds_alternative<CopyOperation>(body) ? "copy" : "";
}

std::uint64_t bytes_moved(const OperationBody& body) {
    if (const auto* collective = std::get_if<CollectiveOperation>(&body))
        return collective->bytes.count();
    if (const auto* send = std::get_if<SendOperation>(&body))
        return send->bytes.count();
    if (const auto* receive = std::get_if<ReceiveOperation>(&body))
        return receive->bytes.count();
    return std::get<CopyOperation>(body).bytes.count();
}

std::string rows_of(const RanScenario& scenario) {
    std::string rows;
    for (std::size_t r = 0; r < scenario.graph.ranks.size(); ++r) {
        const RankGraph& rank = *scenario.graph.ranks[r];
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            const std::string_view kind = kind_of(operation.body);
            const OperationTimes& times = scenario.outcome.times[r][i];
            if (kind.empty() || times.end <= times.start)
                continue;
            rows += fmt::format(
                "{},{},{},{},{},{},{:.6f},{:.6f}\n", csv_field(scenario.name), r,
                csv_field(rank.streams[operation.stream].name), kind,
                csv_field(scenario.graph.names[operation.name]), bytes_moved(operation.body),
                to_microseconds(times.start), to_microseconds(times.end - times.start));
        }
    }
    return rows;
}

/// A machine as JSON. Links are in the order of hops.
std::string json_of(const Topology& topology) {
    std::string nodes;
    for (const TopologyNode& node : topology.nodes)
        nodes += fmt::format(
            "{}\n{{\"name\": {}, \"kind\": \"{}\", \"machine\": {}}}", nodes.empty() ? "" : ",",
            json_text(node.name), enum_name(node.kind),
            node.machine == kNoMachine ? std::string("null") : std::to_string(node.machine));
    std::string links;
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const TopologyEdge& edge = topology.edges[edge_of(hop)];
        const std::uint32_t from = runs_from_b(hop) ? edge.b : edge.a;
        const std::uint32_t to = topology.end_of(hop);
        const double rate = static_cast<double>(
            topology.links[edge.link_class].usable_bandwidth(edge.lanes).count());
        links += fmt::format(
            "{}\n{{\"name\": {}, \"from\": {}, \"to\": {}, \"GBps\": {:.6g}}}",
            links.empty() ? "" : ",", json_text(topology.link_name(hop)), from, to, rate * 1e-9);
    }
    return fmt::format("{{\"nodes\": [{}],\n\"links\": [{}]}}", nodes, links);
}

/// A scenario's loads as JSON, by the number of a link.
std::string json_of(const RanScenario& scenario, std::size_t machine) {
    const LinkLoads& loads = scenario.outcome.loads;
    std::string rows;
    for (std::size_t hop = 0; hop < loads.thousandths.size(); ++hop)
        if (!loads.thousandths[hop].empty())
            rows += fmt::format(
                "{}\n\"{}\": [{}]", rows.empty() ? "" : ",", hop,
                fmt::join(loads.thousandths[hop], ","));
    return fmt::format(
        "{{\"scenario\": {}, \"machine\": {}, \"bin_us\": {:.6f}, \"end_us\": {:.6f}, \"load\": "
        "{{{}}}}}",
        json_text(scenario.name), machine, to_microseconds(Time(loads.bin_ps)),
        to_microseconds(Time(scenario.outcome.end_ps)), rows);
}

}  // namespace

bool explored(bool timeline, std::size_t operations) {
    constexpr std::size_t kFew = 300'000;
    return timeline || operations < kFew;
}

std::size_t operations_of(const ExecutionGraph& graph) {
    std::size_t sum = 0;
    const RankGraph* before = nullptr;  // ranks often share a graph
    std::size_t of_rank = 0;
    for (const auto& rank : graph.ranks) {
        if (rank.get() != before)
            of_rank = static_cast<std::size_t>(
                std::ranges::count_if(rank->operations, [](const Operation& operation) {
                    return !std::holds_alternative<HostDelayOperation>(operation.body);
                }));
        before = rank.get();
        sum += of_rank;
    }
    return sum;
}

void write_communication(ResultFolder& folder, const std::vector<RanScenario>& scenarios) {
    std::string rows;
    for (const RanScenario& scenario : scenarios)
        rows += rows_of(scenario);
    if (!rows.empty())
        folder.write(
            "communication.csv",
            "scenario,rank,stream,kind,name,bytes,start_us,duration_us\n" + rows);
}

void write_links(ResultFolder& folder, const std::vector<RanMachine>& scenarios) {
    std::vector<std::string> machines;
    std::string loads;
    for (const RanMachine& ran : scenarios) {
        if (ran.scenario.outcome.loads.bin_ps == 0)
            continue;
        std::string machine = json_of(build_topology(ran.system.topology));
        auto known = std::find(machines.begin(), machines.end(), machine);
        if (known == machines.end())
            known = machines.insert(machines.end(), std::move(machine));
        loads += fmt::format(
            "{}\n{}", loads.empty() ? "" : ",",
            json_of(ran.scenario, static_cast<std::size_t>(known - machines.begin())));
    }
    if (!machines.empty())
        folder.write(
            "links.json",
            fmt::format(
                "{{\"schema\": \"switchfold-links-1\",\n\"machines\": [{}],\n\"scenarios\": "
                "[{}]}}\n",
                fmt::join(machines, ",\n"), loads));
}

}  // namespace switchfold

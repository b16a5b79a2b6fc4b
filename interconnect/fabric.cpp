// SPDX-License-Identifier: Apache-2.0
#include "interconnect/fabric.h"

#include "core/error.h"
#include "core/kernel/modules.h"
#include "core/prefetch.h"
#include "interconnect/host_paths.h"
#include "interconnect/topology_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace switchfold {

namespace {

// With a kilobyte per link, including the GPUs' share, more links exceed a core's cache.
constexpr std::size_t kCachedLinks = 1024;

/// slot % stripes; on some processors a 64-bit division takes several times as long as a 32-bit
/// one.
std::size_t stripe_of(std::uint64_t slot, std::size_t stripes) {
    if (slot > UINT32_MAX)
        return slot % stripes;
    return static_cast<std::uint32_t>(slot) % static_cast<std::uint32_t>(stripes);
}

}  // namespace

Fabric::Fabric(const sc_core::sc_module_name& name, Topology topology, Scheduler& scheduler) :
    sc_module(name),
    topology_(std::move(topology)),
    scheduler_(scheduler),
    context_{scheduler, {}, {}},
    paths_(std::make_unique<PathFinder>(topology_)) {
    const auto& nodes = topology_.nodes;
    switch_of_node_.assign(nodes.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < topology_.edges.size(); ++i) {
        const TopologyEdge& edge = topology_.edges[i];
        const std::shared_ptr<LinkKind> kind = kind_of(edge);
        smallest_buffer_ = std::min(
            smallest_buffer_, topology_.links[edge.link_class].buffer_per_lane * edge.lanes);
        for (const bool back : {false, true}) {
            const std::uint32_t hop = back ? hop_from_b(i) : hop_from_a(i);
            links_.push_back(std::make_unique<Link>(topology_.link_name(hop).c_str(), kind, hop));
        }
        links_[2UL * i]->set_reverse(*links_[2UL * i + 1]);
        links_[2UL * i + 1]->set_reverse(*links_[2UL * i]);
    }
    if (links_.size() > kCachedLinks)
        scheduler_.expect_large_machine();
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].kind == NodeKind::kGpu) {
            SWITCHFOLD_CHECK(endpoints_.size() == i, "GPUs must come first in a topology");
            endpoints_.push_back(std::make_unique<Endpoint>(
                nodes[i].name.c_str(), i, context_.routes, clients_, scheduler_, topology_.relays));
        } else {
            switch_of_node_[i] = static_cast<std::uint32_t>(switches_.size());
            switches_.push_back(std::make_unique<Switch>(
                nodes[i].name.c_str(), topology_.switches[nodes[i].switch_class], values_,
                scheduler_, nodes[i].kind == NodeKind::kMemory));
        }
    }
    for (std::uint32_t i = 0; i < topology_.edges.size(); ++i) {
        const TopologyEdge& edge = topology_.edges[i];
        for (const bool back : {false, true}) {
            Link& link = *links_[2UL * i + (back ? 1 : 0)];
            const std::uint32_t to = back ? edge.a : edge.b;
            if (nodes[to].kind == NodeKind::kGpu)
                endpoints_[to]->attach(link);
            else
                switch_at(to).attach(link, edge.lanes);
        }
    }
    if (topology_.congestion)
        congestion_ = std::make_unique<Congestion>(
            *topology_.congestion, topology_, links_, context_.routes, scheduler_);
}

Fabric::~Fabric() {
    // As in Simulation::run(), here for the list of the fabric's own modules: with the first gone,
    // each that goes in reverse order is found at once.
    if (!links_.empty())
        links_.front().reset();
    destroy_backwards(switches_);
    destroy_backwards(endpoints_);
    destroy_backwards(links_);
}

std::shared_ptr<LinkKind> Fabric::kind_of(const TopologyEdge& edge) {
    std::shared_ptr<LinkKind>& kind = link_kinds_[{edge.link_class, edge.lanes}];
    if (!kind)
        kind = std::make_shared<LinkKind>(topology_.links[edge.link_class], edge.lanes, context_);
    return kind;
}

std::uint32_t Fabric::add_route(const Path& path) {
    const auto start = static_cast<std::uint32_t>(context_.routes.size());
    for (const std::uint32_t hop : path.hops)
        context_.routes.push_back(links_[hop].get());
    // The null entry tells a GPU whether a packet continues.
    if (topology_.relays)
        context_.routes.push_back(nullptr);
    return start;
}

const Connection& Fabric::connect(std::uint32_t from, std::uint32_t to) {
    const std::uint64_t key = std::uint64_t{from} << 32U | to;
    auto& slot = connections_[key];
    if (slot)
        return *slot;
    auto connection = std::make_unique<Connection>();
    connection->from = from;
    connection->to = to;
    if (!find_ways(*connection)) {
        connections_.erase(key);
        no_way(*connection);
    }
    slot = std::move(connection);
    return *slot;
}

bool Fabric::find_ways(Connection& connection) {
    connection.stripes = nullptr;
    connection.latency = Time();
    const std::vector<Path> paths = paths_->shortest(connection.from, connection.to);
    if (paths.empty())
        return false;
    connection.first_route = static_cast<std::uint32_t>(routes_.size());
    std::vector<std::uint32_t> weights;
    // All forward routes precede all return routes, for locality.
    for (const Path& path : paths) {
        weights.push_back(path.weight);
        routes_.push_back({links_[path.hops.front()].get(), add_route(path), 0});
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
        Path back;
        for (auto hop = paths[i].hops.rbegin(); hop != paths[i].hops.rend(); ++hop)
            back.hops.push_back(reversed(*hop));
        routes_[connection.first_route + i].reply = add_route(back);
    }
    std::vector<std::uint32_t>& stripes = stripes_[weights];
    if (stripes.empty())
        stripes = stripe_order(weights);
    connection.stripes = &stripes;
    for (const std::uint32_t hop : paths.front().hops) {
        connection.latency += links_[hop]->latency();
        const std::uint32_t node = topology_.end_of(hop);
        if (topology_.nodes[node].kind != NodeKind::kGpu)
            connection.latency += switch_at(node).params().latency;
        connection.network = connection.network || topology_.nodes[node].kind == NodeKind::kNic;
        connection.host = connection.host || is_pcie(topology_.nodes[node].kind);
    }
    if (congestion_ != nullptr)
        learn_ways(connection, paths);
    return true;
}

std::vector<std::uint32_t> Fabric::links_between(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> links;
    std::set<std::uint32_t> found;
    for (const Path& path : paths_->shortest(from, to))
        for (const std::uint32_t hop : path.hops)
            for (const std::uint32_t link : {hop, reversed(hop)})
                if (found.insert(link).second)
                    links.push_back(link);
    return links;
}

void Fabric::learn_ways(Connection& connection, const std::vector<Path>& paths) {
    std::vector<std::pair<std::uint32_t, Path>> routes;
    for (std::size_t i = 0; i < paths.size(); ++i)
        routes.emplace_back(routes_[connection.first_route + i].route, paths[i]);
    connection.flow = congestion_->learn(
        connection.flow, routes, connection.latency,
        fmt::format(
            "{}_to_{}", topology_.nodes[connection.from].name,
            topology_.nodes[connection.to].name));
}

const Route& Fabric::route_of(const Connection& connection, std::uint64_t slot) const {
    const std::vector<std::uint32_t>& stripes = *connection.stripes;
    return routes_[connection.first_route + stripes[stripe_of(slot, stripes.size())]];
}

const std::vector<HostHop>& Fabric::host_path(std::uint32_t rank) {
    if (to_host_.empty())
        find_ways_to_host();
    const std::vector<HostHop>& way = to_host_[rank];
    if (!way.empty() && way.front().link == nullptr)
        throw SimulationError(
            name(), scheduler_.now(),
            fmt::format(
                "no path from {} to its host; down: {}", topology_.nodes[rank].name,
                fmt::join(links_down(), ", ")));
    return way;
}

void Fabric::find_ways_to_host() {
    const auto healthy = host_paths(topology_, true);
    const auto paths = host_paths(topology_);
    to_host_.resize(paths.size());
    for (std::size_t rank = 0; rank < paths.size(); ++rank) {
        for (const std::uint32_t hop : paths[rank])
            to_host_[rank].push_back(
                {links_[hop].get(), usable_bandwidth(topology_, topology_.edges[edge_of(hop)])});
        // A hop without a link means that the path was cut.
        if (paths[rank].empty() && !healthy[rank].empty())
            to_host_[rank].emplace_back();
    }
}

void Fabric::no_way(const Connection& connection) const {
    std::string why;
    for (const std::string& link : links_down())
        why += (why.empty() ? ": down are " : ", ") + link;
    throw SimulationError(
        name(), scheduler_.now(),
        fmt::format(
            "no path from {} to {}{}", topology_.nodes[connection.from].name,
            topology_.nodes[connection.to].name, why));
}

std::vector<std::string> Fabric::links_down() const {
    std::vector<std::string> names;
    for (const TopologyEdge& edge : topology_.edges)
        if (edge.down)
            names.push_back(fmt::format(
                "{}_to_{}", topology_.nodes[edge.a].name, topology_.nodes[edge.b].name));
    return names;
}

void Fabric::take_down(std::uint32_t edge) {
    if (std::exchange(topology_.edges[edge].down, true))
        return;
    reductions_.reset();
    paths_ = std::make_unique<PathFinder>(topology_);
    to_host_.clear();
    for (auto& [key, connection] : connections_)
        find_ways(*connection);
    if (listener_ != nullptr)
        listener_->on_link_down(*links_[2UL * edge], *links_[2UL * edge + 1]);
}

void Fabric::fail_reductions(const std::string& node) {
    for (std::uint32_t i = 0; i < topology_.nodes.size(); ++i)
        if (topology_.nodes[i].name == node && topology_.nodes[i].kind != NodeKind::kGpu)
            switch_at(i).fail_reductions();
}

void Fabric::set_reduction_policy(const std::shared_ptr<const ReductionPolicy>& policy) {
    for (const auto& node : switches_)
        node->set_reduction_policy(policy);
}

std::uint32_t Fabric::add_client(PacketClient& client) {
    if (free_clients_.empty()) {
        clients_.push_back(&client);
        relays_.push_back(std::make_unique<DepartureRelay>());
        relays_.back()->client = &client;
        return static_cast<std::uint32_t>(clients_.size() - 1);
    }
    const std::uint32_t id = free_clients_.back();
    free_clients_.pop_back();
    clients_[id] = &client;
    relays_[id]->client = &client;
    return id;
}

void Fabric::remove_client(std::uint32_t client) {
    clients_[client] = nullptr;
    free_clients_.push_back(client);
}

OptionalTime Fabric::send(const Connection& connection, const Transfer& transfer) {
    if (connection.stripes == nullptr) [[unlikely]]
        no_way(connection);
    const Route& taken = route_of(connection, transfer.slot);
    Packet packet;
    packet.tag = transfer.tag;
    packet.tail = scheduler_.now().count();
    packet.payload = transfer.payload;
    packet.route = taken.route;
    packet.reply = taken.reply;
    packet.client = transfer.client;
    packet.values = transfer.values;
    packet.kind = transfer.kind;
    if (connection.flow != Congestion::kNoFlow) [[unlikely]]
        return congestion_->send(connection.flow, packet, *relays_[transfer.client]);
    return taken.first->send(packet, scheduler_.now(), nullptr, relays_[transfer.client].get());
}

TransferTrack Fabric::track(const Connection& connection, std::uint64_t slot) const {
    const Route& next = route_of(connection, slot);
    return {&connection, &next, &context_.routes[next.route], next.first};
}

void TransferTrack::fetch() const {
    if (connection == nullptr)
        return;
    prefetch(connection);
    prefetch(chosen);
    prefetch(route);
    first->fetch();
}

std::vector<std::string> Fabric::blocked() const {
    std::vector<std::string> stuck;
    for (const auto& link : links_)
        if (link->waiting() > 0)
            stuck.push_back(
                fmt::format("{}: {} packets wait for credits", link->name(), link->waiting()));
    for (const auto& node : switches_)
        if (node->stalled_requests() > 0)
            stuck.push_back(fmt::format(
                "{}: {} reductions wait for a free entry", node->name(), node->stalled_requests()));
    for (const auto& node : switches_)
        if (node->reductions_failed())
            stuck.push_back(fmt::format("{}: its reduction units have failed", node->name()));
    return stuck;
}

}  // namespace switchfold

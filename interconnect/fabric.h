// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/endpoint.h"
#include "interconnect/link.h"
#include "interconnect/path_finder.h"
#include "interconnect/reduction_tree.h"
#include "interconnect/switch.h"
#include "interconnect/topology.h"
#include "interconnect/values.h"
#include "sim/kernel/scheduler.h"

#include <systemc>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace switchfold {

/// A route of a connection: its first link, and the places in the route table where it and the
/// route back begin.
struct Way {
    Link* first;
    std::uint32_t route;
    std::uint32_t reply;
};

/// A pair of GPUs that talk: the ways between them and the order in which its transfer units are
/// striped over them.
struct Connection {
    const std::vector<std::uint32_t>* stripes = nullptr;  ///< which way each stripe takes
    std::uint32_t first_way = 0;  ///< in the fabric's list of ways, where they follow each other
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    bool network = false;  ///< its routes lead through network interfaces
    Time latency;  ///< unloaded, of the first way: links, switches and the first packet's time on
                   ///< the wire
};

/// Addresses to prefetch before a connection's transfer starts. They may be stale: hints only.
struct TransferTrack {
    const Connection* connection = nullptr;
    const Way* way = nullptr;
    Link* const* route = nullptr;
    const Link* first = nullptr;
    void fetch() const;
};

/// One tree of switches that reduces over a group.
struct ReductionPlane {
    std::uint16_t id = 0;
    std::vector<Link*> uplinks;      ///< by member
    std::vector<Switch*> switches;   ///< the root first
    std::vector<const Link*> links;  ///< all that its traffic uses
    Time way;  ///< unloaded, from the member that is farthest to the root: links and switches
};

/// The GPUs of a reduction and the switches that serve it.
struct ReductionGroup {
    std::vector<std::uint32_t> ranks;
    std::vector<std::uint32_t> stripes;  ///< plane of each stripe slot
    std::vector<ReductionPlane> planes;
    [[nodiscard]] Time way() const { return planes.front().way; }
    [[nodiscard]] bool uses(const Link& link) const;
};

/// A link on the way from a GPU to its host.
struct HostHop {
    Link* link = nullptr;  ///< towards the host; the other direction is its reverse
    Bandwidth healthy;     ///< usable bytes a second, before any fault
};

/// Told when a cable has gone out of service.
class FabricListener {
public:
    virtual void on_link_down(const Link& there, const Link& back) = 0;

protected:
    ~FabricListener() = default;
};

/// The machine's interconnect: builds links, switches and endpoints from a topology, and sends
/// packets over it.
class Fabric final : public sc_core::sc_module {
public:
    Fabric(const sc_core::sc_module_name& name, Topology topology, Scheduler& scheduler);
    ~Fabric() override;
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;
    Fabric(Fabric&&) = delete;
    Fabric& operator=(Fabric&&) = delete;

    [[nodiscard]] std::uint32_t gpus() const {
        return static_cast<std::uint32_t>(endpoints_.size());
    }
    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) { return *endpoints_[rank]; }
    [[nodiscard]] ValuePool& values() { return values_; }
    [[nodiscard]] Scheduler& scheduler() { return scheduler_; }

    /// Throws SimulationError if there is no way from one to the other.
    const Connection& connect(std::uint32_t from, std::uint32_t to);

    /// The way of a GPU's copies to its host; empty where the topology describes none. Throws
    /// SimulationError if cables out of service leave none of those there were.
    [[nodiscard]] const std::vector<HostHop>& way_to_host(std::uint32_t rank);
    /// Copies that move over links now, and bytes that they have moved.
    struct HostTraffic {
        std::uint32_t copies = 0;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] HostTraffic& host_traffic() { return host_traffic_; }
    [[nodiscard]] const HostTraffic& host_traffic() const { return host_traffic_; }

    /// Bytes of pushed lines that the group can have open at once before a table is full, if they
    /// take turns over stripes and homes.
    [[nodiscard]] std::uint64_t push_room(const ReductionGroup& group) const;

    /// Input buffer of the narrowest link.
    [[nodiscard]] Bytes smallest_buffer() const;

    /// Takes a cable out of service. Packets on it still arrive; connections find other routes.
    void take_down(std::uint32_t edge);
    /// The reduction units of this switch stop working.
    void fail_reductions(const std::string& node);
    /// Whose partial sum leaves a full reduction unit, in every switch, in place of what the
    /// switches' `when_full` says.
    void set_reduction_policy(const std::shared_ptr<const ReductionPolicy>& policy);
    void set_listener(FabricListener* listener) { listener_ = listener; }
    /// Cables out of service, by their names.
    [[nodiscard]] std::vector<std::string> links_down() const;

    [[nodiscard]] std::uint32_t add_client(PacketClient& client);
    void remove_client(std::uint32_t client);

    /// Takes a group in every switch that serves it: one level where all members hang on the same
    /// switches, else a tree with a root. `refused` says which switch turned it down and why; then
    /// nothing comes back. Throws SimulationError if no switches could ever serve these ranks.
    std::unique_ptr<ReductionGroup>
    create_group(std::span<const std::uint32_t> ranks, ElementType type, std::string& refused);
    void remove_group(const ReductionGroup& group);
    /// The group's collective gave up: switches drop its operands, also those that still arrive.
    void flush_group(const ReductionGroup& group);

    /// What leaves a GPU. `slot` chooses the stripe. \returns when the last byte has left, or
    /// nothing if the packet waits for a credit (its client is told then).
    struct Transfer {
        PacketKind kind = PacketKind::kWrite;
        std::uint32_t payload = 0;
        std::uint64_t tag = 0;
        std::uint32_t client = 0;
        std::uint64_t slot = 0;
        std::uint32_t values = 0;
        std::uint32_t home = 0;  ///< pushes: the member that merges partial sums of the line
        std::uint8_t lines = 1;  ///< pushes: that travel as a train, at most kLinesInTrain
    };
    OptionalTime send(const Connection& connection, const Transfer& transfer);
    OptionalTime send(const ReductionGroup& group, std::uint32_t member, const Transfer& transfer);

    /// Addresses that such a transfer will touch.
    [[nodiscard]] TransferTrack track(const Connection& connection, std::uint64_t slot) const;

    [[nodiscard]] std::span<const std::unique_ptr<Link>> links() const { return links_; }
    [[nodiscard]] std::span<const std::unique_ptr<Switch>> switches() const { return switches_; }
    /// Names what is stuck: links with packets that wait for credits, reduction units with stalled
    /// requests.
    [[nodiscard]] std::vector<std::string> blocked() const;

private:
    /// Tells the tag's client of a departure that a link reports.
    struct DepartureRelay final : LinkListener {
        void on_departure(std::uint64_t tag, Time departure) override {
            client->on_departure(tag, departure);
        }
        PacketClient* client = nullptr;
    };
    std::shared_ptr<LinkKind> kind_of(const TopologyEdge& edge);
    std::uint32_t add_route(const Path& path);
    /// \returns false if there is none.
    bool find_ways(Connection& connection);
    [[nodiscard]] const Way& way(const Connection& connection, std::uint64_t slot) const;
    void find_ways_to_host();
    [[noreturn]] void no_way(const Connection& connection) const;
    Switch& switch_at(std::uint32_t node) { return *switches_[switch_of_node_[node]]; }
    std::uint16_t take_group_id();
    std::string add_plane(ReductionGroup& group, const ReductionTree& tree, ElementType type);

    Topology topology_;
    Scheduler& scheduler_;
    LinkContext context_;
    ValuePool values_;
    std::unique_ptr<PathFinder> paths_;
    FabricListener* listener_ = nullptr;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<LinkKind>>
        link_kinds_;  ///< by class and lanes
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<std::unique_ptr<Switch>> switches_;
    std::vector<std::uint32_t> switch_of_node_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
    std::vector<Way> ways_;  ///< of all connections
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>>
        stripes_;  ///< by the ways' weights; most connections have the same
    std::vector<PacketClient*> clients_;
    std::vector<std::unique_ptr<DepartureRelay>> relays_;
    std::vector<std::uint32_t> free_clients_;
    std::vector<bool> groups_used_;
    std::vector<std::vector<HostHop>> to_host_;  ///< by rank; empty until asked for
    HostTraffic host_traffic_;
};

}  // namespace switchfold

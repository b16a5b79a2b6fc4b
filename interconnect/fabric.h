// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "interconnect/congestion/congestion.h"
#include "interconnect/endpoint.h"
#include "interconnect/link.h"
#include "interconnect/path_finder.h"
#include "interconnect/reduction_planner.h"
#include "interconnect/switch.h"
#include "interconnect/topology.h"
#include "interconnect/values.h"

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

/// A route of a connection: its first link, and the positions in the route table at which it and
/// the return route begin.
struct Route {
    Link* first;
    std::uint32_t route;
    std::uint32_t reply;
};

/// A communicating pair of GPUs: the routes between them, and the order in which transfer units are
/// striped over them.
struct Connection {
    const std::vector<std::uint32_t>* stripes = nullptr;  ///< index of the route for each stripe
    std::uint32_t first_route =
        0;  ///< index of its first route in the fabric's list; the others follow
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    bool network = false;  ///< whether its routes pass through network interfaces
    bool host = false;     ///< whether they pass through the host's PCIe
    std::uint32_t flow = Congestion::kNoFlow;  ///< of the network between machines, where that
                                               ///< does something about congestion
    Time latency;  ///< unloaded, of the first route: links, switches, and the first packet's time
                   ///< on the wire
};

/// Addresses to prefetch before a connection's transfer starts. Possibly stale, so hints only.
struct TransferTrack {
    const Connection* connection = nullptr;
    const Route* chosen = nullptr;
    Link* const* route = nullptr;
    const Link* first = nullptr;
    void fetch() const;
};

/// One tree of switches that reduces for a group.
struct ReductionPlane {
    std::uint16_t id = 0;
    std::vector<Link*> uplinks;      ///< by member
    std::vector<Switch*> switches;   ///< root first
    std::vector<Switch*> others;     ///< of a folded group: those that its traffic passes as well
    std::vector<const Link*> links;  ///< all links that carry its traffic
    Time to_root;  ///< unloaded latency from the farthest member to the root: links and switches
};

/// The GPUs of a reduction and the switches that serve it.
struct ReductionGroup {
    std::vector<std::uint32_t> ranks;
    std::uint32_t members = 0;           ///< of a folded group: those that its rank stands for
    std::vector<std::uint32_t> stripes;  ///< plane of each stripe slot
    std::vector<ReductionPlane> planes;
    std::uint8_t operands = 1;  ///< width of what members send
    std::uint8_t sums = 1;      ///< of what they get
    [[nodiscard]] Time to_root() const { return planes.front().to_root; }
    /// At which a member sends and receives, by each of its links: that of the slowest one behind.
    [[nodiscard]] std::vector<Bandwidth> rates() const;
    [[nodiscard]] bool uses(const Link& link) const;
};

/// A link on the path from a GPU to its host.
struct HostHop {
    Link* link = nullptr;  ///< towards the host; the other direction is its reverse
    Bandwidth healthy;     ///< usable bytes per second, before faults
};

/// Notified when a cable goes out of service.
class FabricListener {
public:
    virtual void on_link_down(const Link& there, const Link& back) = 0;
    /// A copy between a GPU and its host begins to use links.
    virtual void on_host_copy() {}

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

    /// Throws SimulationError if no route exists.
    const Connection& connect(std::uint32_t from, std::uint32_t to);

    /// Links of all routes between two GPUs, there and back, as indices of links(): route by route,
    /// each once. Empty if there is none.
    [[nodiscard]] std::vector<std::uint32_t> links_between(std::uint32_t from, std::uint32_t to);

    /// Path of a GPU's copies to its host; empty if the topology describes none. Throws
    /// SimulationError if cables out of service have cut all paths.
    [[nodiscard]] const std::vector<HostHop>& host_path(std::uint32_t rank);
    /// Copies currently in progress on links, and bytes moved by all copies.
    struct HostTraffic {
        std::uint32_t copies = 0;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] HostTraffic& host_traffic() { return host_traffic_; }
    void begin_host_copy() {
        ++host_traffic_.copies;
        if (listener_ != nullptr)
            listener_->on_host_copy();
    }
    [[nodiscard]] const HostTraffic& host_traffic() const { return host_traffic_; }

    /// Bytes of pushed lines that the group can have open at once before a table is full, if lines
    /// rotate over stripes and homes.
    [[nodiscard]] std::uint64_t push_room(const ReductionGroup& group) const;

    /// What one entry of the group's reduction units covers; of the smallest, if they differ.
    [[nodiscard]] Bytes reduction_line(const ReductionGroup& group) const;

    /// Input buffer of the narrowest link.
    [[nodiscard]] Bytes smallest_buffer() const { return smallest_buffer_; }

    /// Takes a cable out of service. Packets already on it arrive; connections switch to other
    /// routes.
    void take_down(std::uint32_t edge);
    /// Disables the reduction units of this switch.
    void fail_reductions(const std::string& node);
    /// Whose partial sum leaves a full reduction unit, in every switch, in place of what the
    /// switches' `when_full` says.
    void set_reduction_policy(const std::shared_ptr<const ReductionPolicy>& policy);
    void set_listener(FabricListener* listener) { listener_ = listener; }
    /// Names of cables out of service.
    [[nodiscard]] std::vector<std::string> links_down() const;

    [[nodiscard]] std::uint32_t add_client(PacketClient& client);
    void remove_client(std::uint32_t client);

    /// Registers a group in every switch that serves it: a single level if all members are attached
    /// to the same switches, otherwise a tree with a root. If a switch rejects it, returns null,
    /// with the switch and the reason in `refused`. Throws SimulationError if no switches can serve
    /// these ranks at all.
    std::unique_ptr<ReductionGroup> create_group(
        std::span<const std::uint32_t> ranks, const OperandFormat& format, std::string& refused);
    /// A group of rank `first` that stands for `turns.size()` ranks from it on, of a domain that
    /// can be folded (models/collectives/shortcuts/rank_symmetry.h). What a switch sends to all
    /// members it sends to that one as often: the packet for member h on the links of the stripe
    /// `turns[h]` further than its own, as what member h itself has sent at that time is on that
    /// stripe.
    std::unique_ptr<ReductionGroup> create_folded_group(
        std::uint32_t first, const std::vector<std::uint32_t>& turns, ElementType type,
        std::string& refused);
    /// Sums of the group's pushes go to their lines' homes alone, in trains of lines of one home.
    void scatter(const ReductionGroup& group);
    void remove_group(const ReductionGroup& group);
    /// Called when the group's collective gives up: switches drop its operands, including those
    /// still to arrive.
    void flush_group(const ReductionGroup& group);

    /// What a GPU sends. `slot` selects the stripe. \returns when the last byte leaves, or nothing
    /// if the packet waits for a credit (its client is notified later).
    struct Transfer {
        PacketKind kind = PacketKind::kWrite;
        std::uint32_t payload = 0;
        std::uint64_t tag = 0;
        std::uint32_t client = 0;
        std::uint64_t slot = 0;
        std::uint32_t values = 0;
        std::uint32_t home = 0;  ///< pushes: the member that merges partial sums of the line
        std::uint8_t lines = 1;  ///< pushes: lines that travel as a train, at most kLinesInTrain;
                                 ///< pulls: rounds
    };
    OptionalTime send(const Connection& connection, const Transfer& transfer);
    OptionalTime send(const ReductionGroup& group, std::uint32_t member, const Transfer& transfer);

    /// Addresses that such a transfer will touch.
    [[nodiscard]] TransferTrack track(const Connection& connection, std::uint64_t slot) const;

    [[nodiscard]] std::span<const std::unique_ptr<Link>> links() const { return links_; }
    [[nodiscard]] std::span<const std::unique_ptr<Switch>> switches() const { return switches_; }
    /// Null if the network between machines does nothing about congestion.
    [[nodiscard]] const Congestion* congestion() const { return congestion_.get(); }
    /// Describes what is blocked: links with packets waiting for credits, reduction units with
    /// stalled requests.
    [[nodiscard]] std::vector<std::string> blocked() const;

private:
    /// Forwards a link's departures to the tag's client.
    struct DepartureRelay final : LinkListener {
        void on_departure(std::uint64_t tag, Time departure) override {
            client->on_departure(tag, departure);
        }
        PacketClient* client = nullptr;
    };
    std::shared_ptr<LinkKind> kind_of(const TopologyEdge& edge);
    std::uint32_t add_route(const Path& path);
    /// \returns false if no route exists.
    bool find_ways(Connection& connection);
    void learn_ways(Connection& connection, const std::vector<Path>& paths);
    [[nodiscard]] const Route& route_of(const Connection& connection, std::uint64_t slot) const;
    void find_ways_to_host();
    [[noreturn]] void no_way(const Connection& connection) const;
    Switch& switch_at(std::uint32_t node) { return *switches_[switch_of_node_[node]]; }
    std::uint16_t take_group_id();
    ReductionPlan plan_group(std::span<const std::uint32_t> ranks);
    std::string
    add_plane(ReductionGroup& group, const ReductionTree& tree, const OperandFormat& format);

    Topology topology_;
    Scheduler& scheduler_;
    LinkContext context_;
    ValuePool values_;
    std::unique_ptr<PathFinder> paths_;
    std::unique_ptr<ReductionPlanner> reductions_;  ///< made by the first group
    FabricListener* listener_ = nullptr;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<LinkKind>>
        link_kinds_;  ///< by class and lanes
    Bytes smallest_buffer_{UINT64_MAX};
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<std::unique_ptr<Switch>> switches_;
    std::unique_ptr<Congestion> congestion_;
    std::vector<std::uint32_t> switch_of_node_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
    std::vector<Route> routes_;  ///< of all connections
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>>
        stripes_;  ///< by the routes' weights; shared, because most connections have equal weights
    std::vector<PacketClient*> clients_;
    std::vector<std::unique_ptr<DepartureRelay>> relays_;
    std::vector<std::uint32_t> free_clients_;
    std::vector<bool> groups_used_;
    std::vector<std::vector<HostHop>> to_host_;  ///< by rank; filled on demand
    HostTraffic host_traffic_;
};

}  // namespace switchfold

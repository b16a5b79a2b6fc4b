// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/optional_time.h"
#include "core/random_stream.h"
#include "interconnect/congestion/congestion_port.h"
#include "interconnect/congestion/flow.h"
#include "interconnect/congestion/parameters.h"
#include "interconnect/congestion/path_choices.h"
#include "interconnect/congestion/statistics.h"
#include "interconnect/link.h"
#include "interconnect/topology.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// What the network between machines does about congestion (CongestionParams). It stands between
/// the network's links and their far ends, so machines without it pay nothing:
/// - at a switch, a packet may take another output (adaptive routing) and is marked where it meets
///   a long queue;
/// - at the far end of the network it may be lost, and marks are told to the sender;
/// - every link of the network may be paused by its far end.
/// Senders hold packets for their rate (DcqcnRate) and behind lost ones.
class Congestion final : private EventHandler {
public:
    /// `links`: by hop. The switches are attached already.
    Congestion(
        const CongestionParams& params, const Topology& topology,
        std::span<const std::unique_ptr<Link>> links, const std::vector<Link*>& routes,
        Scheduler& scheduler);
    ~Congestion();
    Congestion(const Congestion&) = delete;
    Congestion& operator=(const Congestion&) = delete;
    Congestion(Congestion&&) = delete;
    Congestion& operator=(Congestion&&) = delete;

    static constexpr std::uint32_t kNoFlow = PathChoices::kNoFlow;
    /// Routes of a pair: where each begins in the route table, and its hops. \returns the flow;
    /// kNoFlow if they do not pass the network. `flow`: the pair's, if it has one already.
    std::uint32_t learn(
        std::uint32_t flow, const std::vector<std::pair<std::uint32_t, Path>>& routes, Time latency,
        std::string name);
    /// As Fabric::send().
    OptionalTime send(std::uint32_t flow, const Packet& packet, LinkListener& listener);

    struct LinkRow {
        const Link* link;
        CongestedLinkStatistics counted;
    };
    [[nodiscard]] std::vector<LinkRow> link_statistics() const;
    [[nodiscard]] std::vector<std::pair<std::string, FlowStatistics>> flow_statistics() const;

private:
    friend class CongestionPort;
    friend struct Flow;
    /// At a switch: where the packet goes on.
    [[nodiscard]] Packet through_switch(const Packet& packet);
    /// At the network's end. \returns whether it is taken.
    bool at_end(const Packet& packet, CongestionPort& port);
    bool lost_on_the_way(const Packet& packet);
    void tell_of_mark(std::uint32_t flow);
    void ask_again(std::uint32_t flow, Time after);
    void throw_away(const Packet& packet, std::uint32_t flow, CongestionPort& port);
    OptionalTime transmit(Flow& flow, Packet packet, LinkListener* listener);
    void on_event(std::uint64_t tag) override;
    void send_what_is_due(std::uint32_t flow);
    void arm(std::uint32_t flow);
    [[nodiscard]] CongestionPort& port_of(const Link& link);

    enum class Tag : std::uint8_t { kDue, kNotified, kAsked, kTimeout };
    void post(Tag tag, std::uint32_t flow, Time after);

    CongestionParams params_;
    Scheduler& scheduler_;
    const std::vector<Link*>& routes_;
    PathChoices choices_;
    std::vector<std::unique_ptr<CongestionPort>> ports_;  ///< in order of hops
    std::vector<CongestionPort*> port_of_hop_;            ///< null outside the network
    std::vector<std::unique_ptr<Flow>> flows_;
    RandomStream marks_;
    RandomStream losses_;
};

}  // namespace switchfold

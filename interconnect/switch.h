// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/link.h"
#include "interconnect/reduction_unit.h"
#include "interconnect/topology.h"
#include "interconnect/values.h"
#include "sim/core/statistics.h"
#include "sim/kernel/scheduler.h"

#include <systemc>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace switchfold {

/// What a switch knows of one multicast group.
struct SwitchGroup {
    std::vector<Link*> members;  ///< links towards the members, in the order of their ranks
    ElementType type = ElementType::kFloat32;
};

struct SwitchStatistics {
    std::uint64_t packets = 0;
    std::uint64_t multicast_copies = 0;
    static constexpr auto statistics() {
        using S = SwitchStatistics;
        return std::tuple{
            statistic("packets", &S::packets, Unit::kCount, "Packets that came in."),
            statistic(
                "multicast_copies",
                &S::multicast_copies,
                Unit::kCount,
                "Packets sent for multicast writes, one a member.")};
    }
};

/// Forwards packets. An arriving packet sits in the input buffer of its link, queues for its output
/// by virtual channel (so one busy output does not hold up packets for another), and frees its
/// place when its tail has left. Outputs serve whoever asked first. Copies multicast writes and,
/// with a reduction unit behind every port, reduces on reads: the unit of the requester's port fans
/// the request out, adds the answers, and sends one sum back (pull mode, as NVLS). Also stands for
/// NICs and PCIe switches, which only forward.
class Switch final : public sc_core::sc_module, public PacketSink, private EventHandler {
public:
    Switch(
        const sc_core::sc_module_name& name,
        const SwitchParams& params,
        const std::vector<std::uint32_t>& routes,
        const std::vector<Link*>& links,
        ValuePool& values,
        Scheduler& scheduler);

    /// Joins a link that arrives here; its reverse leaves here.
    void attach(Link& incoming, std::uint32_t lanes);
    /// \returns false if the switch holds as many groups as it can or cannot serve one of this
    /// kind.
    [[nodiscard]] bool add_group(std::uint16_t group, SwitchGroup members);
    void remove_group(std::uint16_t group);

    std::optional<Time> accept(const Packet& packet, Link& from) override;

    [[nodiscard]] const SwitchParams& params() const { return params_; }
    [[nodiscard]] std::span<Link* const> incoming() const { return incoming_; }
    /// Null where the switch cannot reduce.
    [[nodiscard]] const ReductionUnit* unit(std::size_t port) const {
        return ports_[port].unit.get();
    }
    [[nodiscard]] std::size_t stalled_requests() const;
    [[nodiscard]] const SwitchStatistics& statistics() const { return statistics_; }

private:
    struct Port {
        Link* in = nullptr;
        Link* out = nullptr;
        std::unique_ptr<ReductionUnit> unit;
        RingQueue<Packet> stalled;
    };
    void on_event(std::uint64_t tag) override;
    std::optional<Time> forward(const Packet& packet, Link& from);
    std::optional<Time> multicast(const Packet& packet, Link& from);
    std::optional<Time> open_reduction(const Packet& packet, Link& from);
    Time answer(const Packet& packet, Link& from);
    void fan_out(std::uint32_t port, std::uint32_t session);
    const SwitchGroup& group(std::uint16_t id) const;

    SwitchParams params_;
    SwitchStatistics statistics_;
    const std::vector<std::uint32_t>& routes_;
    const std::vector<Link*>& links_;
    ValuePool& values_;
    Scheduler& scheduler_;
    std::vector<Port> ports_;
    std::vector<Link*> incoming_;
    std::vector<SwitchGroup> groups_;
    std::uint32_t groups_held_ = 0;
};

}  // namespace switchfold

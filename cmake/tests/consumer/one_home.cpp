// SPDX-License-Identifier: Apache-2.0
#include "one_home.h"

#include "interconnect/topology.h"
#include "models/collectives/in_switch/in_switch_base.h"

#include <algorithm>
#include <vector>

namespace consumer {

namespace {

using namespace switchfold;

/// Every member pushes its buffer in order, a window ahead of what came back. A line is what an
/// entry of the unit holds.
class OneHomeAllReduce final : public InSwitchCollective, private EventHandler {
public:
    OneHomeAllReduce(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group) :
        InSwitchCollective(environment, spec, listener, std::move(group)),
        line_(fabric_.reduction_line(*group_).count()),
        window_(params_.outstanding_loads.count()),
        sent_(n_),
        arrived_(n_) {}

    void join(std::uint32_t position, Time start) override {
        begin(position, start, spec_.bytes.count() > 0 ? 1 : 0);
        if (spec_.bytes.count() > 0)
            scheduler_.at(start + params_.in_switch_copy_round, *this, position);
    }
    [[nodiscard]] Bytes footprint() const override { return {}; }
    [[nodiscard]] bool leaves_operands() const override { return true; }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override {
        std::vector<std::string> lines;
        for (std::uint32_t i = 0; i < n_ && lines.size() < limit; ++i)
            if (arrived_[i] < spec_.bytes.count())
                lines.push_back(
                    "rank " + std::to_string(spec_.ranks[i]) + ": pushed " +
                    std::to_string(sent_[i]) + ", got " + std::to_string(arrived_[i]));
        return lines;
    }

private:
    static constexpr std::uint64_t kEnd = 1ULL << 32U;  ///< marks the event of a member's end

    void on_event(std::uint64_t tag) override {
        const auto position = static_cast<std::uint32_t>(tag);
        if (abandoned_)
            return;
        if ((tag & kEnd) != 0)
            end_channel(position);
        else
            push(position);
    }
    void push(std::uint32_t position) {
        std::uint64_t& sent = sent_[position];
        while (sent < spec_.bytes.count() && sent - arrived_[position] < window_) {
            const std::uint64_t bytes = std::min(line_, spec_.bytes.count() - sent);
            port(position).access(bytes, 0);
            fabric_.send(
                *group_, position,
                {.kind = PacketKind::kReducePush,
                 .payload = static_cast<std::uint32_t>(bytes),
                 .tag = sent / line_,
                 .client = client_,
                 .slot = sent / line_,
                 .values = operands(position, sent, bytes),
                 .home = 0});
            sent += bytes;
        }
    }
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override {
        if (abandoned_) {
            fabric_.values().drop(packet.values);
            return;
        }
        if (packet.kind != PacketKind::kMulticastCopy) {
            listener_.on_failure(kUnitTimedOut);
            return;
        }
        const std::uint32_t position = position_of(rank);
        keep_values(position, packet.tag * line_, packet.values);
        arrived_[position] += packet.payload;
        if (arrived_[position] < spec_.bytes.count())
            push(position);
        else
            scheduler_.at(
                std::max(scheduler_.now(), visible) + params_.push_poll, *this, kEnd | position);
    }
    std::uint32_t supply(const Packet& /*request*/, std::uint32_t /*rank*/) override { return 0; }
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}

    std::uint64_t line_;
    std::uint64_t window_;
    std::vector<std::uint64_t> sent_;     ///< bytes, by member
    std::vector<std::uint64_t> arrived_;  ///< bytes of sums
};

}  // namespace

std::string OneHome::why_not(
    const CollectiveCall& /*call*/, const Topology& topology,
    std::span<const std::uint32_t> /*ranks*/) const {
    for (const SwitchParams& node : topology.switches)
        if (node.reduction && node.reduction->timeout != Time())
            return "a unit gives up lines after its timeout, and one_home merges no parts";
    return {};
}

std::unique_ptr<RunningCollective> OneHome::make(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) const {
    return make_group_collective<OneHomeAllReduce>(environment, spec, listener, refused);
}

bool EverySecond::has_unit(const Topology& topology, std::uint32_t node) const {
    std::uint32_t before = 0;
    for (std::uint32_t i = topology.gpus(); i < node; ++i)
        before += topology.switches[topology.nodes[i].switch_class].reduction ? 1U : 0U;
    return before % 2 == 0;
}

}  // namespace consumer

// SPDX-License-Identifier: Apache-2.0
#include "interconnect/congestion/congestion.h"

#include "core/error.h"
#include "interconnect/hop.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

// A store's count says whether a switch has marked it, and its round of losses.
constexpr std::uint16_t kMarked = 1;
constexpr std::uint16_t kRounds = 0x7FFF;

std::uint16_t round_of(const Packet& packet) {
    return packet.count >> 1U;
}

/// The probability that one of `frames` meets what each does by itself with probability `share`.
double any_of(double share, std::uint32_t frames) {
    return 1 - std::pow(1 - share, frames);
}

}  // namespace

Congestion::Congestion(
    const CongestionParams& params, const Topology& topology,
    std::span<const std::unique_ptr<Link>> links, const std::vector<Link*>& routes,
    Scheduler& scheduler) :
    params_(params),
    scheduler_(scheduler),
    routes_(routes),
    choices_(topology),
    port_of_hop_(links.size(), nullptr),
    marks_(params.seed, "marks"),
    losses_(params.seed, "losses") {
    for (std::uint32_t hop = 0; hop < links.size(); ++hop) {
        if (!in_network(topology, hop))
            continue;
        ports_.push_back(std::make_unique<CongestionPort>(
            *this, *links[hop], ends_in_network(topology, hop), params_.pause,
            topology.edges[edge_of(hop)].lanes, scheduler_));
        port_of_hop_[hop] = ports_.back().get();
    }
}

Congestion::~Congestion() = default;

std::uint32_t Congestion::learn(
    std::uint32_t flow, const std::vector<std::pair<std::uint32_t, Path>>& routes, Time latency,
    std::string name) {
    const auto passes = [&](const auto& route) { return choices_.network_links(route.second) > 0; };
    const auto through = std::ranges::find_if(routes, passes);
    if (through == routes.end())
        return kNoFlow;
    if (flow == kNoFlow) {
        flow = static_cast<std::uint32_t>(flows_.size());
        Flow& added = *flows_.emplace_back(std::make_unique<Flow>());
        added.owner = this;
        added.index = flow;
        added.name = std::move(name);
        const auto enters = std::ranges::find_if(
            through->second.hops, [&](std::uint32_t hop) { return port_of_hop_[hop] != nullptr; });
        added.line = port_of_hop_[*enters]->link().bandwidth();
        if (params_.dcqcn)
            added.rate.emplace(*params_.dcqcn, added.line);
    }
    flows_[flow]->latency = latency;
    choices_.learn(flow, routes);
    return flow;
}

CongestionPort& Congestion::port_of(const Link& link) {
    return *port_of_hop_[link.id()];
}

Packet Congestion::through_switch(const Packet& packet) {
    Packet next = packet;
    const PathChoices::Place& place = choices_.at(packet.route);
    if (params_.routing == RoutePolicy::kAdaptive && place.count > 1) {
        // Its own path unless another is shorter, so that packets spread where nothing waits.
        std::uint32_t best = packet.route;
        Time least = routes_[best]->queue_time();
        for (const std::uint32_t other : choices_.of(place))
            if (const Time waits = routes_[other]->queue_time(); waits < least) {
                least = waits;
                best = other;
            }
        if (best != packet.route) {
            ++port_of(*routes_[best]).counted().rerouted;
            next.route = best;
            next.onward = routes_[best];
        }
    }
    CongestionPort& out = port_of(*next.onward);
    const std::uint64_t queue = next.onward->queue_bytes();
    out.counted().peak_queue = std::max(out.counted().peak_queue, queue);
    if (!params_.dcqcn || (next.count & kMarked) != 0)
        return next;
    const auto from = static_cast<double>(params_.dcqcn->mark_from.count());
    const auto to = static_cast<double>(params_.dcqcn->mark_all_from.count());
    const auto found = static_cast<double>(queue);
    if (found < from)
        return next;
    const std::uint32_t frames = next.onward->format().packets(next.kind, next.payload);
    const double share = params_.dcqcn->mark_share * (found - from) / (to - from);
    if (found >= to || marks_.share() < any_of(share, frames)) {
        next.count |= kMarked;
        ++out.counted().marked;
    }
    return next;
}

bool Congestion::at_end(const Packet& packet, CongestionPort& port) {
    // The route's place is that of the hop after this link.
    const std::uint32_t of = choices_.at(packet.route - 1).flow;
    if (of == kNoFlow)
        return true;
    Flow& flow = *flows_[of];
    if ((packet.count & kMarked) != 0)
        tell_of_mark(of);
    if (!params_.loss)
        return true;
    if (flow.recovering && round_of(packet) == flow.round)
        flow.recovering = false;
    if (flow.recovering) {
        throw_away(packet, of, port);
        ask_again(of, flow.latency);
        return false;
    }
    if (lost_on_the_way(packet)) {
        if (params_.loss->recovery == Recovery::kGoBackN) {
            flow.recovering = true;
            flow.round = (flow.round + 1) & kRounds;
        }
        if (flow.lost.empty())
            flow.lost_since = scheduler_.now();
        throw_away(packet, of, port);
        post(Tag::kTimeout, of, params_.loss->timeout);
        return false;
    }
    if (!flow.lost.empty())
        ask_again(of, flow.latency);
    return true;
}

bool Congestion::lost_on_the_way(const Packet& packet) {
    const PathChoices::Place& place = choices_.at(packet.route - 1);
    const std::uint32_t frames =
        routes_[packet.route - 1]->format().packets(packet.kind, packet.payload);
    return losses_.share() < any_of(params_.loss->share, frames * place.links);
}

void Congestion::throw_away(const Packet& packet, std::uint32_t of, CongestionPort& port) {
    Packet again = packet;
    again.route = choices_.at(packet.route - 1).begin;
    again.wire = 0;
    again.count = 0;
    again.onward = nullptr;
    flows_[of]->lost.push_back(again);
    ++port.counted().lost;
}

void Congestion::tell_of_mark(std::uint32_t of) {
    Flow& flow = *flows_[of];
    const Time now = scheduler_.now();
    if (flow.told && now < flow.told_at + params_.dcqcn->notify_every)
        return;
    flow.told = true;
    flow.told_at = now;
    post(Tag::kNotified, of, flow.latency);
}

void Congestion::ask_again(std::uint32_t of, Time after) {
    if (std::exchange(flows_[of]->asked, true))
        return;
    post(Tag::kAsked, of, after);
}

void Congestion::post(Tag tag, std::uint32_t flow, Time after) {
    scheduler_.after(after, *this, std::uint64_t{flow} << 2U | static_cast<std::uint64_t>(tag));
}

OptionalTime Congestion::send(std::uint32_t of, const Packet& packet, LinkListener& listener) {
    Flow& flow = *flows_[of];
    if (!is_store(packet.kind))
        return routes_[packet.route]->send(packet, scheduler_.now(), nullptr, &listener);
    const Time now = scheduler_.now();
    if (flow.again.empty() && flow.waiting.empty() && !flow.blocked && flow.next <= now)
        return transmit(flow, packet, &listener);
    flow.waiting.push_back({packet, &listener, now});
    arm(of);
    return std::nullopt;
}

OptionalTime Congestion::transmit(Flow& flow, Packet packet, LinkListener* listener) {
    const Time now = scheduler_.now();
    Link& first = *routes_[packet.route];
    packet.count = static_cast<std::uint16_t>(flow.sends_round << 1U);
    packet.tail = now.count();
    ++flow.counted.packets;
    if (!flow.rate)
        return first.send(packet, now, nullptr, listener);
    const std::uint32_t bytes = first.format().wire_bytes(packet.kind, packet.payload);
    flow.rate->sent(bytes, now);
    const double rate = flow.rate->rate(now);
    const double line = static_cast<double>(flow.line.count());
    flow.counted.least_share = std::min(flow.counted.least_share, rate / line);
    flow.next = std::max(flow.next, now) +
                Time(static_cast<std::uint64_t>(static_cast<double>(bytes) / rate * 1e12));
    flow.of_last = listener;
    const OptionalTime left = first.send(packet, now, nullptr, &flow);
    flow.blocked = !left;
    if (left)
        flow.next = std::max(flow.next, *left);
    return left;
}

void Flow::on_departure(std::uint64_t tag, Time departure) {
    blocked = false;
    next = std::max(next, departure);
    if (of_last != nullptr)
        of_last->on_departure(tag, departure);
    owner->arm(index);
}

void Congestion::arm(std::uint32_t of) {
    Flow& flow = *flows_[of];
    if (flow.armed || flow.blocked || (flow.again.empty() && flow.waiting.empty()))
        return;
    flow.armed = true;
    const Time now = scheduler_.now();
    post(Tag::kDue, of, flow.next > now ? flow.next - now : Time());
}

void Congestion::send_what_is_due(std::uint32_t of) {
    Flow& flow = *flows_[of];
    flow.armed = false;
    const Time now = scheduler_.now();
    while (!flow.blocked && flow.next <= now && !(flow.again.empty() && flow.waiting.empty())) {
        auto& queue = flow.again.empty() ? flow.waiting : flow.again;
        const Flow::Held held = queue.front();
        queue.pop_front();
        flow.counted.held += now - held.since;
        const OptionalTime left = transmit(flow, held.packet, held.listener);
        if (left && held.listener != nullptr)
            held.listener->on_departure(held.packet.tag, *left);
    }
    arm(of);
}

void Congestion::on_event(std::uint64_t tag) {
    const auto of = static_cast<std::uint32_t>(tag >> 2U);
    Flow& flow = *flows_[of];
    switch (static_cast<Tag>(tag & 3U)) {
    case Tag::kDue:
        return send_what_is_due(of);
    case Tag::kNotified:
        ++flow.counted.notifications;
        flow.rate->notified(scheduler_.now());
        return;
    case Tag::kTimeout:
        if (flow.lost.empty() || flow.asked ||
            scheduler_.now() < flow.lost_since + params_.loss->timeout)
            return;
        ++flow.counted.timeouts;
        break;
    case Tag::kAsked:
        flow.asked = false;
        break;
    }
    flow.sends_round = flow.round;
    for (const Packet& packet : flow.lost) {
        flow.again.push_back({packet, nullptr, scheduler_.now()});
        ++flow.counted.resent;
    }
    flow.lost.clear();
    arm(of);
}

std::vector<Congestion::LinkRow> Congestion::link_statistics() const {
    std::vector<LinkRow> rows;
    for (const auto& port : ports_)
        rows.push_back({&port->link(), port->counted()});
    return rows;
}

std::vector<std::pair<std::string, FlowStatistics>> Congestion::flow_statistics() const {
    std::vector<std::pair<std::string, FlowStatistics>> rows;
    for (const auto& flow : flows_)
        rows.emplace_back(flow->name, flow->counted);
    return rows;
}

}  // namespace switchfold

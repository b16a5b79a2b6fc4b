// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/low_latency.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint32_t kWarps = 32;

}  // namespace

LowLatencyShape low_latency_shape(std::uint32_t experts, std::uint32_t sms) {
    LowLatencyShape shape;
    shape.groups = std::min(kWarps, (experts + sms - 1) / sms);
    shape.warps_of_group = kWarps / shape.groups;
    shape.blocks = (experts + shape.groups - 1) / shape.groups;
    return shape;
}

LowLatencyCollective::LowLatencyCollective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) :
    ExpertsCollective(environment, spec, listener),
    shape_(low_latency_shape(exchange_.experts, spec.choice.channels)),
    each_(exchange_.experts / n_),
    pairs_(std::size_t{n_} * n_),
    rows_(std::size_t{n_} * exchange_.experts) {
    for (std::uint32_t from = 0; from < n_; ++from) {
        experts_.push_back(choose_experts_of(exchange_, n_, from));
        counts_.push_back(token_counts(exchange_, n_, from));
        for (const std::uint32_t expert : experts_.back())
            ++rows_[std::size_t{from} * exchange_.experts + expert];
        for (std::uint32_t to = 0; to < n_; ++to) {
            Pair& p = pair(from, to);
            p.from = from;
            p.to = to;
            p.units = (from * n_ + to) * 7;
            if (from != to)
                p.route = &fabric_.connect(spec_.ranks[from], spec_.ranks[to]);
            add_part(from);
            add_part(to);
        }
    }
}

void LowLatencyCollective::start_pairs(std::uint64_t at) {
    for (Pair& p : pairs_) {
        p.last = at;
        if (p.bytes == 0)
            arrive(p, 0, at);
    }
}

std::uint64_t
LowLatencyCollective::send(Pair& p, std::uint64_t bytes, std::uint64_t tag, std::uint32_t values) {
    if (p.route == nullptr) {
        if (values != 0)
            on_values(p, tag, values);
        const std::uint64_t written = port(p.to).access(0, bytes).count();
        arrive(p, bytes, written);
        return std::max(now(), written);
    }
    const std::uint64_t largest = largest_packet();
    std::uint64_t left = now();
    for (std::uint64_t sent = 0; sent < bytes; sent += largest) {
        const OptionalTime departure = fabric_.send(
            *p.route, {.kind = PacketKind::kWrite,
                       .payload = static_cast<std::uint32_t>(std::min(largest, bytes - sent)),
                       .tag = tag,
                       .client = client_,
                       .slot = p.units++,
                       .values = sent == 0 ? values : 0});
        if (departure)
            left = std::max(left, departure->count());
    }
    return left;
}

std::uint64_t LowLatencyCollective::largest_packet() const {
    constexpr std::uint64_t kLargestUnit = 16;   // transfer units
    constexpr std::uint64_t kUnitsInBuffer = 4;  // per link
    return std::min(
        machine_.transfer_unit.count() * kLargestUnit,
        fabric_.smallest_buffer().count() / kUnitsInBuffer);
}

void LowLatencyCollective::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    const auto from = static_cast<std::uint32_t>(packet.tag >> 48U);
    const auto at = std::lower_bound(spec_.ranks.begin(), spec_.ranks.end(), rank);
    Pair& p = pair(from, static_cast<std::uint32_t>(at - spec_.ranks.begin()));
    if (packet.values != 0)
        on_values(p, packet.tag, packet.values);
    arrive(p, packet.payload, visible.count() + p.route->latency.count());
}

void LowLatencyCollective::arrive(Pair& p, std::uint64_t bytes, std::uint64_t known) {
    p.arrived += bytes;
    SWITCHFOLD_CHECK(p.arrived <= p.bytes, "more arrives than was sent");
    p.last = std::max(p.last, known);
    if (p.arrived < p.bytes || p.flagged)
        return;
    // The sender knows that everything is stored; its flag follows.
    p.flagged = true;
    const std::uint64_t way = p.route == nullptr ? 0 : p.route->latency.count();
    post(kFlag | (std::uint64_t{p.from} * n_ + p.to), p.last + way);
}

void LowLatencyCollective::on_event(std::uint64_t tag) {
    if ((tag & kFlag) == 0)
        return on_stage(tag);
    Pair& p = pairs_[tag & ~kFlag];
    on_flag(p);
    part_done(p.from);
}

std::vector<std::string> LowLatencyCollective::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (const Pair& p : pairs_)
        if (p.arrived < p.bytes && lines.size() < limit)
            lines.push_back(fmt::format(
                "rank {} to rank {}: {} of {} bytes arrived", spec_.ranks[p.from],
                spec_.ranks[p.to], p.arrived, p.bytes));
    return lines;
}

}  // namespace switchfold

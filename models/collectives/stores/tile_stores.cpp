// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/group_collective.h"
#include "models/collectives/stores/stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace switchfold {

namespace {

/// What one instruction of a warp stores: 512 B of a line, whose operands meet in one entry.
constexpr std::uint64_t kStoredLine = 32 * 16;

/// Reduce-scatter: each member pushes all shares to the switch, whose unit adds the operands of a
/// line as they come and sends the sum to the line's home, the member that keeps the share. The
/// shares take turns line by line, in the same order at all members, so that a line's operands come
/// close to each other where the members are aligned; where one is late, its lines wait in the
/// tables. All-gather: each member stores its share, and the switch copies it to all. The warps
/// that store belong to the kernel that the data come from: there is no kernel of its own, no
/// barrier, and no window but what the links take (a store is posted). A member is done when it
/// has handed over its stores and has seen all that it waits for.
class TileStores final : public GroupCollective, private EventHandler {
public:
    TileStores(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group);

    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return {}; }

private:
    enum class Stage : std::uint8_t { kJoin, kSend, kEnd };
    struct Member {
        std::uint64_t next = 0;     ///< train that it sends next
        std::uint32_t unsent = 0;   ///< packets that the links are sending
        std::uint64_t arrived = 0;  ///< bytes
        Time seen;
        bool joined = false;
        bool ended = false;
    };
    /// Partial sums of a line at its home: of a table without room, or of a time-out.
    struct Parts {
        std::uint32_t count = 0;
        std::vector<std::uint32_t> values;
    };
    struct Train {
        std::uint32_t home = 0;
        std::uint64_t offset = 0;  ///< in the share
        std::uint32_t bytes = 0;
        std::uint8_t lines = 1;
    };

    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& /*packet*/, std::uint32_t /*rank*/) override { return 0; }
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    void on_event(std::uint64_t tag) override;

    void post(Stage stage, std::uint32_t position, Time due) {
        scheduler_.at(
            std::max(due, scheduler_.now()), *this,
            static_cast<std::uint64_t>(stage) << 56U | position);
    }
    [[nodiscard]] std::uint64_t trains_of_share() const { return (share_ + train_ - 1) / train_; }
    [[nodiscard]] std::uint64_t trains() const { return trains_of_share() * (scatters_ ? n_ : 1); }
    [[nodiscard]] Train train(std::uint32_t position, std::uint64_t number) const;
    void send(std::uint32_t position);
    void arrived(std::uint32_t position, std::uint64_t bytes, Time visible);
    void try_end(std::uint32_t position);
    /// A line of a share, or a train of them; the same at all members, since their operands meet.
    static std::uint64_t tag_of(std::uint32_t home, std::uint64_t line) {
        return std::uint64_t{home} << 40U | line;
    }

    bool scatters_;
    std::uint64_t share_;
    Time pace_;              ///< of a line on a member's slowest link
    Time poll_;              ///< until the warps that wait see it
    std::uint64_t line_;     ///< bytes
    std::uint64_t train_;    ///< bytes of those that travel together
    std::uint32_t at_once_;  ///< packets that a member's stores hold before the links
    std::vector<Member> members_;
    std::unordered_map<std::uint64_t, Parts> parts_;
};

TileStores::TileStores(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::unique_ptr<ReductionGroup> group) :
    GroupCollective(environment, spec, listener, std::move(group)),
    scatters_(spec.kind == CollectiveKind::kReduceScatter),
    share_(spec.share()),
    poll_(environment.params.push_poll),
    members_(spec.ranks.size()) {
    const CollectiveParams& params = environment.params;
    line_ = std::min(kStoredLine, params.transfer_unit.count());
    std::uint64_t lines = std::min<std::uint64_t>(
        kLinesInTrain, std::max<std::uint64_t>(1, params.transfer_unit.count() / line_));
    // A copy to all is one packet; where tables are smaller than what is under way, each of the
    // unit's lines finds its own entry.
    if (scatters_) {
        fabric_.scatter(*group_);
        if (fabric_.push_room(*group_) < 2 * lines * line_ * n_ * group_->stripes.size()) {
            line_ = std::min<std::uint64_t>(line_, fabric_.reduction_line(*group_).count());
            lines = 1;
        }
    }
    train_ = lines * line_;
    const std::vector<Bandwidth> rates = group_->rates();
    pace_ = serialization_time(Bytes(line_), *std::min_element(rates.begin(), rates.end()));
    at_once_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(
        2 * group_->stripes.size(), params.outstanding_stores.count() / train_));
}

TileStores::Train TileStores::train(std::uint32_t position, std::uint64_t number) const {
    Train found;
    const std::uint64_t round = scatters_ ? number / n_ : number;
    found.home = scatters_ ? static_cast<std::uint32_t>(number % n_) : position;
    found.offset = round * train_;
    const std::uint64_t left = share_ - found.offset;
    found.bytes = static_cast<std::uint32_t>(std::min(train_, left));
    // A train is of whole lines.
    if (found.bytes == train_)
        found.lines = scatters_ ? static_cast<std::uint8_t>(train_ / line_) : 1;
    return found;
}

void TileStores::join(std::uint32_t position, Time start) {
    make_room(position);
    post(Stage::kJoin, position, start);
}

void TileStores::on_event(std::uint64_t tag) {
    const auto position = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 56U)) {
    case Stage::kJoin:
        members_[position].joined = true;
        break;
    case Stage::kSend:
        --members_[position].unsent;
        break;
    case Stage::kEnd:
        listener_.on_member_done(position, scheduler_.now());
        return;
    }
    send(position);
    try_end(position);
}

void TileStores::send(std::uint32_t position) {
    Member& m = members_[position];
    while (m.next < trains() && m.unsent < at_once_) {
        Train next = train(position, m.next);
        // The last of a share goes line by line.
        for (std::uint64_t sent = 0; sent < next.bytes;) {
            const std::uint64_t whole = next.lines > 1 ? train_ : line_;
            const auto bytes =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(whole, next.bytes - sent));
            const std::uint64_t offset = next.offset + sent;
            const std::uint64_t at = std::uint64_t{next.home} * share_ + offset;
            // Tiles that a product makes are in registers; what is gathered is in memory.
            if (!scatters_)
                port(position).access(bytes, 0);
            ++m.unsent;
            const OptionalTime departs = fabric_.send(
                *group_, position,
                {.kind = scatters_ ? PacketKind::kReducePush : PacketKind::kMulticastWrite,
                 .payload = bytes,
                 .tag = tag_of(next.home, offset / line_),
                 .client = client_,
                 .slot = offset / train_ + next.home,
                 .values = own_values(position, at, bytes),
                 .home = next.home,
                 .lines = next.lines});
            // What waits for a credit waits in the link's queue: the warps go on at its rate.
            post(
                Stage::kSend, position, departs ? *departs : scheduler_.now() + pace_ * next.lines);
            sent += bytes;
        }
        ++m.next;
    }
}

void TileStores::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    const std::uint32_t position = position_of(rank);
    const auto home = static_cast<std::uint32_t>(packet.tag >> 40U);
    const std::uint64_t line = packet.tag & ((1ULL << 40U) - 1);
    if (packet.kind == PacketKind::kMulticastCopy) {
        keep_values(position, home * share_ + line * line_, packet.values);
        arrived(position, packet.payload, visible);
        return;
    }
    if (packet.count == 0)
        throw SimulationError(
            fabric_.name(), scheduler_.now(),
            fmt::format("{} under a {}", kUnitTimedOut, to_string(spec_.kind)));
    if (packet.count == n_) {
        keep_values(position, home * share_ + line * line_, packet.values);
        arrived(position, packet.payload, visible);
        return;
    }
    // The warps that wait for the share add the parts.
    Parts& parts = parts_[line * n_ + home];
    parts.count += packet.count;
    SWITCHFOLD_CHECK(parts.count <= n_, "a contribution was counted twice");
    if (packet.values != 0)
        parts.values.push_back(packet.values);
    const Time served = port(position).access(packet.payload, 0);
    if (parts.count < n_)
        return;
    if (!parts.values.empty())
        keep_values(
            position, home * share_ + line * line_,
            fold(fabric_.values(), parts.values, spec_.element, Accumulation::kFloat32, true));
    parts_.erase(line * n_ + home);
    arrived(position, packet.payload, std::max(visible, served));
}

void TileStores::arrived(std::uint32_t position, std::uint64_t bytes, Time visible) {
    Member& m = members_[position];
    m.arrived += bytes;
    m.seen = std::max(m.seen, visible);
    SWITCHFOLD_CHECK(
        m.arrived <= share_ * (scatters_ ? 1 : n_), "more data than a member waits for");
    try_end(position);
}

void TileStores::try_end(std::uint32_t position) {
    Member& m = members_[position];
    if (m.ended || !m.joined || m.next < trains() || m.unsent > 0 ||
        m.arrived < share_ * (scatters_ ? 1 : n_))
        return;
    m.ended = true;
    post(Stage::kEnd, position, std::max(scheduler_.now(), m.seen) + poll_);
}

std::vector<std::string> TileStores::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t position = 0; position < n_ && lines.size() < limit; ++position)
        if (const Member& m = members_[position]; !m.ended)
            lines.push_back(fmt::format(
                "rank {}: stored {} of {} trains, got {} of {} bytes", spec_.ranks[position],
                m.next, trains(), m.arrived, share_ * (scatters_ ? 1 : n_)));
    return lines;
}

}  // namespace

std::unique_ptr<RunningCollective> make_tile_stores(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    return make_group_collective<TileStores>(environment, spec, listener, refused);
}

}  // namespace switchfold

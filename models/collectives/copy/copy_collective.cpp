// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/copy/copy_plan.h"
#include "models/collectives/group_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

/// Collectives by copy engines, without thread blocks (NCCL src/ce_coll.cc). Each member writes a
/// flag into every other's memory, and its stream waits for theirs. Then engines take the copies of
/// a batch in turn, each as a stream of stores. When all copies of a member have arrived, it writes
/// flags and waits again. Batches follow each other in this way.
class CopyCollective final : public GroupCollective, private EventHandler {
public:
    CopyCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group);

    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override { return {}; }

private:
    enum class Stage : std::uint8_t { kJoin, kReady, kRead, kSend, kThere };
    struct Engine {
        PlannedCopy copy;
        std::uint64_t sent = 0;
        std::uint32_t piece = 0;   ///< size of its current piece
        std::uint32_t unsent = 0;  ///< packets waiting for a credit
        bool waits = false;        ///< whether it waits for them
        Time free;                 ///< when its own rate allows it to continue
        Time departed;             ///< departure of its last piece
        Time before;               ///< departure of the previous piece
    };
    /// Tag of a flag (its sender and turn) or of data (sending engine and destination).
    struct Tag {
        bool flag = false;
        std::uint32_t from = 0;    ///< position of the sender, or engine
        std::uint64_t target = 0;  ///< turn, or byte offset in the receiver's buffer
        [[nodiscard]] std::uint64_t pack() const {
            return std::uint64_t{flag} << 63U | std::uint64_t{from} << kBits | target;
        }
        static Tag unpack(std::uint64_t tag) {
            return {
                tag >> 63U != 0, static_cast<std::uint32_t>(tag >> kBits) & 0x3F'FFFFU,
                tag & ((1ULL << kBits) - 1)};
        }
        static constexpr std::uint32_t kBits = 41;
    };
    struct Member {
        std::vector<std::vector<PlannedCopy>> batches;
        std::uint32_t turn =
            0;               ///< number of flags written: one before each batch and one at the end
        bool waits = false;  ///< for the others' flags of the last turn
        std::size_t next = 0;    ///< index of the next copy that no engine has taken
        std::uint64_t left = 0;  ///< bytes of the batch that have not arrived
        Time there;
        std::vector<std::uint32_t> flags;  ///< number of flags received, by turn
        std::vector<Time> seen;
    };
    void on_event(std::uint64_t tag) override;
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& /*packet*/, std::uint32_t /*rank*/) override { return 0; }
    void on_departure(std::uint64_t tag, Time departure) override;

    void post(Stage stage, std::uint32_t index, Time due) {
        scheduler_.at(
            std::max(due, scheduler_.now()), *this,
            static_cast<std::uint64_t>(stage) << 56U | index);
    }
    void write_flags(std::uint32_t position);
    void try_go_on(std::uint32_t position);
    void begin_batch(std::uint32_t position);
    void take_copy(std::uint32_t engine);
    void read(std::uint32_t engine);
    void send(std::uint32_t engine);
    void send_packet(std::uint32_t engine, std::uint64_t done, std::uint32_t bytes);
    void go_on(std::uint32_t engine);
    void arrive(std::uint32_t sender, std::uint64_t bytes, Time visible);

    const CopyCollectiveParams& params_;
    std::uint32_t unit_;
    std::vector<Member> members_;
    std::vector<Engine> engines_;  ///< by position and engine
    std::uint64_t slot_ = 0;
};

CopyCollective::CopyCollective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::unique_ptr<ReductionGroup> group) :
    GroupCollective(environment, spec, listener, std::move(group)),
    params_(environment.params.copy_engine),
    unit_(static_cast<std::uint32_t>(environment.params.transfer_unit.count())),
    members_(spec.ranks.size()),
    engines_(spec.ranks.size() * params_.engines) {
    const CopyCall call{spec.kind,        n_, spec.root, spec.bytes.count(), spec.element_bytes,
                        group_ != nullptr};
    for (std::uint32_t position = 0; position < n_; ++position) {
        Member& member = members_[position];
        member.batches = plan_copies(call, position);
        member.flags.resize(member.batches.size() + 1);
        member.seen.resize(member.batches.size() + 1);
    }
}

void CopyCollective::join(std::uint32_t position, Time start) {
    make_room(position);
    post(Stage::kJoin, position, start);
}

void CopyCollective::on_event(std::uint64_t tag) {
    const auto index = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 56U)) {
    case Stage::kJoin:
    case Stage::kThere:
        return write_flags(index);
    case Stage::kReady:
        return begin_batch(index);
    case Stage::kRead:
        return read(index);
    case Stage::kSend:
        return send(index);
    }
}

void CopyCollective::write_flags(std::uint32_t position) {
    Member& member = members_[position];
    constexpr std::uint32_t kFlagBytes = 4;
    for (std::uint32_t place = 1; place < n_; ++place) {
        const std::uint32_t peer = (position + place) % n_;
        fabric_.send(
            way(position, peer), {.kind = PacketKind::kCopyWrite,
                                  .payload = kFlagBytes,
                                  .tag = Tag{true, position, member.turn}.pack(),
                                  .client = client_,
                                  .slot = member.turn});
    }
    ++member.turn;
    member.waits = true;
    try_go_on(position);
}

void CopyCollective::try_go_on(std::uint32_t position) {
    Member& member = members_[position];
    if (!member.waits || member.flags[member.turn - 1] + 1 < n_)
        return;
    member.waits = false;
    const Time seen = std::max(scheduler_.now(), member.seen[member.turn - 1]) + params_.signal;
    if (member.turn > member.batches.size())
        listener_.on_member_done(position, seen);
    else
        post(Stage::kReady, position, seen + (member.turn == 1 ? params_.start : Time()));
}

void CopyCollective::begin_batch(std::uint32_t position) {
    Member& member = members_[position];
    member.next = 0;
    member.left = 0;
    member.there = scheduler_.now();
    for (const PlannedCopy& copy : member.batches[member.turn - 1])
        member.left += copy.bytes * (copy.to == PlannedCopy::kToAll ? n_ : 1);
    if (member.left == 0)
        return write_flags(position);
    for (std::uint32_t i = 0; i < params_.engines; ++i)
        take_copy(position * params_.engines + i);
}

void CopyCollective::take_copy(std::uint32_t index) {
    Engine& engine = engines_[index];
    Member& member = members_[index / params_.engines];
    const auto& batch = member.batches[member.turn - 1];
    if (member.next == batch.size())
        return;
    engine.copy = batch[member.next++];
    engine.sent = 0;
    read(index);
}

void CopyCollective::read(std::uint32_t index) {
    Engine& engine = engines_[index];
    const std::uint32_t position = index / params_.engines;
    // Two pieces are in flight at a time.
    const std::uint64_t most = std::max<std::uint64_t>(unit_, params_.outstanding.count() / 2);
    engine.piece =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(most, engine.copy.bytes - engine.sent));
    const bool local = engine.copy.to == position;
    const Time served = port(position).access(engine.piece, local ? engine.piece : 0);
    post(Stage::kSend, index, std::max(served, engine.free));
}

void CopyCollective::send(std::uint32_t index) {
    Engine& engine = engines_[index];
    const std::uint32_t position = index / params_.engines;
    engine.free = scheduler_.now() + serialization_time(Bytes(engine.piece), params_.rate);
    engine.before = std::exchange(engine.departed, scheduler_.now());
    const std::uint64_t end = engine.sent + engine.piece;
    if (engine.copy.to == position) {
        const std::uint64_t from = engine.copy.from + engine.sent;
        keep_values(
            position, engine.copy.target + engine.sent, own_values(position, from, engine.piece));
        engine.sent = end;
        arrive(position, engine.piece, engine.free);
    }
    while (engine.sent < end) {
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(unit_, end - engine.sent));
        send_packet(index, engine.sent, bytes);
        engine.sent += bytes;
    }
    if (engine.unsent > 0)
        engine.waits = true;
    else
        go_on(index);
}

void CopyCollective::send_packet(std::uint32_t index, std::uint64_t done, std::uint32_t bytes) {
    Engine& engine = engines_[index];
    const std::uint32_t position = index / params_.engines;
    const PlannedCopy& copy = engine.copy;
    const bool all = copy.to == PlannedCopy::kToAll;
    const Fabric::Transfer transfer{
        .kind = all ? PacketKind::kMulticastWrite : PacketKind::kCopyWrite,
        .payload = bytes,
        .tag = Tag{false, index, copy.target + done}.pack(),
        .client = client_,
        .slot = slot_++,
        .values = own_values(position, copy.from + done, bytes)};
    const OptionalTime departure = all ? fabric_.send(*group_, position, transfer)
                                       : fabric_.send(way(position, copy.to), transfer);
    if (departure)
        engine.departed = std::max(engine.departed, *departure);
    else
        ++engine.unsent;
}

void CopyCollective::on_departure(std::uint64_t tag, Time departure) {
    const Tag what = Tag::unpack(tag);
    if (what.flag)
        return;
    Engine& engine = engines_[what.from];
    engine.departed = std::max(engine.departed, departure);
    if (--engine.unsent > 0 || !engine.waits)
        return;
    engine.waits = false;
    go_on(what.from);
}

void CopyCollective::go_on(std::uint32_t index) {
    Engine& engine = engines_[index];
    if (engine.sent == engine.copy.bytes)
        return take_copy(index);
    post(Stage::kRead, index, engine.before);
}

void CopyCollective::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    const Tag tag = Tag::unpack(packet.tag);
    const std::uint32_t position = position_of(rank);
    if (!tag.flag) {
        keep_values(position, tag.target, packet.values);
        return arrive(tag.from / params_.engines, packet.payload, visible);
    }
    Member& member = members_[position];
    ++member.flags[tag.target];
    member.seen[tag.target] = std::max(member.seen[tag.target], visible);
    try_go_on(position);
}

void CopyCollective::arrive(std::uint32_t sender, std::uint64_t bytes, Time visible) {
    Member& member = members_[sender];
    SWITCHFOLD_CHECK(member.left >= bytes, "more bytes came than a batch holds");
    member.left -= bytes;
    member.there = std::max(member.there, visible);
    if (member.left == 0)
        post(Stage::kThere, sender, member.there);
}

std::vector<std::string> CopyCollective::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t position = 0; position < n_ && lines.size() < limit; ++position) {
        const Member& member = members_[position];
        if (member.left > 0)
            lines.push_back(fmt::format(
                "rank {}: {} bytes of its copies are not there", spec_.ranks[position],
                member.left));
        else if (member.waits)
            lines.push_back(fmt::format(
                "rank {} waits for flags of {} of {} others", spec_.ranks[position],
                n_ - 1 - member.flags[member.turn - 1], n_ - 1));
    }
    return lines;
}

}  // namespace

std::unique_ptr<RunningCollective> make_copy_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    return make_group_collective<CopyCollective>(environment, spec, listener, refused);
}

}  // namespace switchfold

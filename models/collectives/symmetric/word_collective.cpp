// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/symmetric/block_barrier.h"
#include "models/collectives/symmetric/symmetric_base.h"

#include <fmt/format.h>

#include <map>

namespace switchfold {

namespace {

using Which = BlockBarriers::Which;

/// Purpose of a packet. A load identifies the waiting worker, the rank whose memory it reads, and
/// the packet's index in the piece; a store its record; a barrier the arriving block and the
/// barrier.
struct WordTag {
    enum class Kind : std::uint8_t { kLoad, kStore, kBarrier };
    Kind kind = Kind::kLoad;
    std::uint32_t index = 0;
    std::uint32_t peer = 0;
    std::uint32_t packet = 0;
    [[nodiscard]] std::uint64_t pack() const {
        return static_cast<std::uint64_t>(kind) << 62U | std::uint64_t{peer} << 44U |
               std::uint64_t{packet} << 32U | index;
    }
    static WordTag unpack(std::uint64_t tag) {
        return {
            static_cast<Kind>(tag >> 62U), static_cast<std::uint32_t>(tag),
            static_cast<std::uint32_t>(tag >> 44U) & 0x3'FFFFU,
            static_cast<std::uint32_t>(tag >> 32U) & 0xFFFU};
    }
};

/// Kernels that load and store whole words (LDMC, STMC, LD, ST). Each block takes part in an entry
/// barrier. Each of its workers (a warp, or a group of four) then takes piece after piece: loads it
/// from its own memory, from every peer's, or as the switch's sum, and stores it to one of the
/// same. It requests the next piece as soon as its stores are on the wire. An exit barrier follows
/// when all stores of the block are acknowledged.
class WordCollective final : public SymmetricBase {
public:
    WordCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group) :
        SymmetricBase(environment, spec, listener, std::move(group)),
        barriers_(fabric_, spec_, group_.get(), client_, spec.choice.channels),
        blocks_(std::size_t{n_} * spec.choice.channels),
        workers_(blocks_.size() * work_.workers()) {
        for (Block& block : blocks_)
            block.working = work_.workers();
    }
    void abandon() override;

private:
    enum class Stage : std::uint8_t { kBegin, kEnter, kLoaded, kLeave };
    struct Worker {
        Task task;
        std::uint32_t places =
            0;  ///< number of peers, starting with itself, from which it has requested data
        std::uint32_t answers = 0;    ///< answers still missing
        std::uint32_t unsent = 0;     ///< stores waiting for a credit
        bool wants_to_store = false;  ///< to be resumed once they have left
        Time departed;                ///< departure of its stores
        Time loaded;
        std::uint64_t slot = 0;  ///< counter of its packets, which rotate over the routes
    };
    struct Block {
        bool joined = false;
        OptionalTime entry;  ///< when all have arrived at the entry
        OptionalTime exit;
        bool left = false;          ///< it has arrived at the exit itself
        std::uint32_t working = 0;  ///< active workers
        std::uint64_t stored = 0;   ///< outstanding deliveries
        Time acknowledged;
    };
    /// A packet in flight to all ranks, or to one.
    struct Store {
        std::uint32_t worker = 0;
        std::uint32_t deliveries = 0;
        std::uint64_t offset = 0;
    };
    [[nodiscard]] static std::uint64_t event_of(Stage stage, std::uint32_t index) {
        return static_cast<std::uint64_t>(stage) << 56U | index;
    }
    void post(Stage stage, std::uint32_t index, Time due) {
        scheduler_.at(std::max(due, scheduler_.now()), *this, event_of(stage, index));
    }
    void on_event(std::uint64_t tag) override;
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void on_departure(std::uint64_t tag, Time departure) override;

    void begin_block(std::uint32_t block) override;
    void come_to(std::uint32_t block, Which which);
    void on_barrier(std::uint32_t block, Which which, Time visible);
    void next(std::uint32_t worker);
    void load(std::uint32_t worker);
    void load_from(std::uint32_t worker, std::uint32_t peer);
    void on_load(const Packet& packet, const WordTag& tag, Time visible);
    void end_load(std::uint32_t worker, Time loaded);
    void store(std::uint32_t worker);
    void store_packet(
        std::uint32_t worker, std::uint32_t index, std::uint32_t bytes, std::uint32_t values);
    void send_store(
        std::uint32_t worker, const Store& record, Fabric::Transfer transfer,
        const Connection* way);
    void on_store(const Packet& packet, const WordTag& tag, std::uint32_t position, Time visible);
    void try_leave(std::uint32_t block);
    [[nodiscard]] std::uint32_t sum_of(std::uint32_t worker, std::uint32_t packet);
    /// Position of the worker's piece in the buffers.
    [[nodiscard]] std::uint64_t offset_of(std::uint32_t worker) const {
        return share_of(position_of_worker(worker)) + workers_[worker].task.piece.begin;
    }
    [[nodiscard]] std::uint32_t packets_of(const Part& piece) const {
        return static_cast<std::uint32_t>((piece.bytes + unit_ - 1) / unit_);
    }
    [[nodiscard]] std::uint32_t bytes_of(const Part& piece, std::uint32_t packet) const {
        const std::uint64_t begin = std::uint64_t{packet} * unit_;
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(unit_, piece.bytes - begin));
    }

    BlockBarriers barriers_;
    std::vector<Block> blocks_;
    std::vector<Worker> workers_;
    std::vector<Store> stores_;
    std::vector<std::uint32_t> free_stores_;
    /// Functional mode: results of loads, by worker and packet, then by rank of the memory.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint32_t>>
        loads_;
};

void WordCollective::abandon() {
    SymmetricBase::abandon();
    for (const auto& [packet, by_peer] : loads_)
        for (const auto& [peer, handle] : by_peer)
            fabric_.values().drop(handle);
    loads_.clear();
}

void WordCollective::on_event(std::uint64_t tag) {
    if (abandoned_)
        return;
    const auto index = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 56U)) {
    case Stage::kBegin:
        return begin_block(index);
    case Stage::kEnter:
        for (std::uint32_t i = 0; i < work_.workers(); ++i)
            next(first_worker(index) + i);
        return;
    case Stage::kLoaded:
        return store(index);
    case Stage::kLeave:
        return come_to(index, Which::kExit);
    }
}

void WordCollective::begin_block(std::uint32_t block) {
    blocks_[block].joined = true;
    come_to(block, Which::kEntry);
}

void WordCollective::come_to(std::uint32_t block, Which which) {
    Block& b = blocks_[block];
    if (which == Which::kExit)
        b.left = true;
    barriers_.arrive(
        position_of_block(block), block % spec_.choice.channels,
        WordTag{WordTag::Kind::kBarrier, block, 0, which}.pack());
    if (which == Which::kEntry && b.entry)
        post(Stage::kEnter, block, *b.entry);
    if (which == Which::kExit && b.exit)
        end_block(block, std::max(scheduler_.now(), *b.exit));
}

void WordCollective::on_barrier(std::uint32_t block, Which which, Time visible) {
    const OptionalTime all =
        barriers_.count(position_of_block(block), block % spec_.choice.channels, which, visible);
    if (!all)
        return;
    Block& b = blocks_[block];
    const Time seen = *all + params_.poll;
    if (which == Which::kEntry) {
        b.entry = seen;
        if (b.joined)
            post(Stage::kEnter, block, seen);
        return;
    }
    b.exit = seen;
    if (b.left)
        end_block(block, seen);
}

void WordCollective::next(std::uint32_t worker) {
    Worker& w = workers_[worker];
    const std::uint32_t block = block_of(worker);
    if (take(worker, w.task)) {
        w.places = 0;
        w.loaded = Time();
        load(worker);
        return;
    }
    --blocks_[block].working;
    try_leave(block);
}

void WordCollective::load(std::uint32_t worker) {
    Worker& w = workers_[worker];
    const std::uint32_t self = position_of_worker(worker);
    switch (move_.source) {
    case Side::kOwn:
        return end_load(worker, load_own(self, w.task.piece.bytes));
    case Side::kSwitch:
        w.answers = 1;
        fabric_.send(
            *group_, self,
            {.kind = PacketKind::kReduceRequest,
             .payload = static_cast<std::uint32_t>(w.task.piece.bytes),
             .tag = WordTag{WordTag::Kind::kLoad, worker, self, 0}.pack(),
             .client = client_,
             .slot = w.task.piece.begin / unit_});
        return;
    case Side::kPeers:
        break;
    }
    const std::uint32_t last = std::min(n_, w.places + work_.peers_at_once());
    for (; w.places < last; ++w.places) {
        const std::uint32_t peer = (self + w.places) % n_;
        if (peer != self) {
            load_from(worker, peer);
            continue;
        }
        w.loaded = std::max(w.loaded, load_own(self, w.task.piece.bytes));
        for (std::uint32_t i = 0; functional_ && i < packets_of(w.task.piece); ++i)
            loads_[{worker, i}][self] = own_values(
                self, offset_of(worker) + std::uint64_t{i} * unit_, bytes_of(w.task.piece, i));
    }
    if (w.answers == 0)
        end_load(worker, w.loaded);
}

void WordCollective::load_from(std::uint32_t worker, std::uint32_t peer) {
    Worker& w = workers_[worker];
    const Connection& there = way(position_of_worker(worker), peer);
    for (std::uint32_t i = 0; i < packets_of(w.task.piece); ++i) {
        ++w.answers;
        fabric_.send(
            there, {.kind = PacketKind::kReadRequest,
                    .payload = bytes_of(w.task.piece, i),
                    .tag = WordTag{WordTag::Kind::kLoad, worker, peer, i}.pack(),
                    .client = client_,
                    .slot = w.slot++});
    }
}

void WordCollective::on_load(const Packet& packet, const WordTag& tag, Time visible) {
    Worker& w = workers_[tag.index];
    if (packet.values != 0)
        loads_[{tag.index, tag.packet}][tag.peer] = packet.values;
    w.loaded = std::max(w.loaded, visible + params_.load_latency);
    if (--w.answers == 0)
        end_load(tag.index, w.loaded);
}

void WordCollective::end_load(std::uint32_t worker, Time loaded) {
    // With more peers to load from, the registers must be free first.
    workers_[worker].loaded = loaded;
    post(Stage::kLoaded, worker, loaded);
}

std::uint32_t WordCollective::sum_of(std::uint32_t worker, std::uint32_t packet) {
    auto node = loads_.extract({worker, packet});
    std::vector<std::uint32_t> operands;
    for (const auto& [peer, handle] : node.mapped())
        operands.push_back(handle);
    if (operands.size() == 1)
        return operands.front();
    return fold(fabric_.values(), operands, spec_.element, Accumulation::kFloat32, true);
}

void WordCollective::store(std::uint32_t worker) {
    Worker& w = workers_[worker];
    if (move_.source == Side::kPeers && w.places < n_)
        return load(worker);
    if (w.unsent > 0) {
        w.wants_to_store = true;
        return;
    }
    if (w.departed > scheduler_.now())
        return post(Stage::kLoaded, worker, w.departed);
    const std::uint32_t self = position_of_worker(worker);
    const Part piece = w.task.piece;
    if (move_.sink != Side::kSwitch)
        port(self).access(0, piece.bytes);
    for (std::uint32_t i = 0; i < packets_of(piece); ++i) {
        std::uint32_t values = 0;
        if (functional_)
            values =
                move_.source == Side::kOwn
                    ? own_values(
                          self, offset_of(worker) + std::uint64_t{i} * unit_, bytes_of(piece, i))
                    : sum_of(worker, i);
        store_packet(worker, i, bytes_of(piece, i), values);
    }
    next(worker);
}

void WordCollective::store_packet(
    std::uint32_t worker, std::uint32_t index, std::uint32_t bytes, std::uint32_t values) {
    const std::uint32_t self = position_of_worker(worker);
    Worker& w = workers_[worker];
    const std::uint64_t offset = offset_of(worker) + std::uint64_t{index} * unit_;
    Fabric::Transfer transfer{.payload = bytes, .client = client_, .values = values};
    if (move_.sink == Side::kSwitch) {
        transfer.kind = PacketKind::kMulticastWrite;
        transfer.slot = offset / unit_;
        send_store(worker, {worker, n_, offset}, transfer, nullptr);
        return;
    }
    if (move_.sink == Side::kPeers)
        for (std::uint32_t place = 1; place < n_; ++place) {
            const std::uint32_t peer = (self + place) % n_;
            if (values != 0)
                fabric_.values().share(values);
            transfer.slot = w.slot++;
            send_store(worker, {worker, 1, offset}, transfer, &way(self, peer));
        }
    keep_values(self, offset, values);
}

void WordCollective::send_store(
    std::uint32_t worker, const Store& record, Fabric::Transfer transfer, const Connection* way) {
    std::uint32_t index = 0;
    if (free_stores_.empty()) {
        index = static_cast<std::uint32_t>(stores_.size());
        stores_.push_back(record);
    } else {
        index = free_stores_.back();
        free_stores_.pop_back();
        stores_[index] = record;
    }
    transfer.tag = WordTag{WordTag::Kind::kStore, index, 0, 0}.pack();
    blocks_[block_of(worker)].stored += record.deliveries;
    const OptionalTime departure = way == nullptr
                                       ? fabric_.send(*group_, position_of_worker(worker), transfer)
                                       : fabric_.send(*way, transfer);
    Worker& w = workers_[worker];
    if (departure)
        w.departed = std::max(w.departed, *departure);
    else
        ++w.unsent;
}

void WordCollective::on_departure(std::uint64_t tag, Time departure) {
    const WordTag what = WordTag::unpack(tag);
    if (abandoned_ || what.kind != WordTag::Kind::kStore)
        return;
    const std::uint32_t worker = stores_[what.index].worker;
    Worker& w = workers_[worker];
    w.departed = std::max(w.departed, departure);
    if (--w.unsent == 0 && w.wants_to_store) {
        w.wants_to_store = false;
        post(Stage::kLoaded, worker, w.departed);
    }
}

void WordCollective::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    if (abandoned_) {
        fabric_.values().drop(packet.values);
        return;
    }
    const WordTag tag = WordTag::unpack(packet.tag);
    const std::uint32_t position = position_of(rank);
    switch (tag.kind) {
    case WordTag::Kind::kBarrier:
        return on_barrier(
            position * spec_.choice.channels + tag.index % spec_.choice.channels,
            static_cast<Which>(tag.packet), visible);
    case WordTag::Kind::kStore:
        return on_store(packet, tag, position, visible);
    case WordTag::Kind::kLoad:
        break;
    }
    if (packet.kind != PacketKind::kReduceResult || packet.count != 0)
        return on_load(packet, tag, visible);
    if (spec_.kind == CollectiveKind::kAllReduce)
        return listener_.on_failure(kUnitTimedOut);
    throw SimulationError(
        fabric_.name(), scheduler_.now(),
        fmt::format("{} under a {}", kUnitTimedOut, to_string(spec_.kind)));
}

std::uint32_t WordCollective::supply(const Packet& packet, std::uint32_t rank) {
    const WordTag tag = WordTag::unpack(packet.tag);
    return own_values(
        position_of(rank),
        offset_of(tag.index) + std::uint64_t{tag.packet} * unit_ +
            (packet.kind == PacketKind::kReduceFetch ? fetched_from(packet) : 0),
        packet.payload);
}

void WordCollective::on_store(
    const Packet& packet, const WordTag& tag, std::uint32_t position, Time visible) {
    Store& record = stores_[tag.index];
    keep_values(position, record.offset, packet.values);
    const std::uint32_t sender = position_of_worker(record.worker);
    const Time back = group_ ? group_->to_root() * 2 : way(position, sender).latency;
    const std::uint32_t block = block_of(record.worker);
    Block& b = blocks_[block];
    b.acknowledged = std::max(b.acknowledged, visible + back);
    --b.stored;
    if (--record.deliveries == 0)
        free_stores_.push_back(tag.index);
    try_leave(block);
}

void WordCollective::try_leave(std::uint32_t block) {
    Block& b = blocks_[block];
    if (b.working == 0 && b.stored == 0)
        post(Stage::kLeave, block, b.acknowledged);
}

}  // namespace

std::unique_ptr<RunningCollective> make_word_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    return make_group_collective<WordCollective>(environment, spec, listener, refused);
}

}  // namespace switchfold

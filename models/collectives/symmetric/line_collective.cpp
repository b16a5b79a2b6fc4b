// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/symmetric/symmetric_base.h"

#include <array>
#include <map>

namespace switchfold {

namespace {

/// LL and LLMC (src/device/symmetric, ncclLLA2ASession): each 16 bytes stored hold 8 bytes of data
/// and two flags with the kernel's number. A worker stores its piece to all ranks, into alternating
/// buffers, and polls for the corresponding pieces of all. All-reduce and reduce-scatter add them,
/// all-gather copies them. No worker is more than one piece ahead, since it waits for the pieces of
/// all.
class LineCollective final : public SymmetricBase {
public:
    LineCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::unique_ptr<ReductionGroup> group) :
        SymmetricBase(environment, spec, listener, std::move(group)),
        workers_(std::size_t{n_} * spec.choice.channels * work_.workers()),
        working_(std::size_t{n_} * spec.choice.channels, work_.workers()) {}

    void abandon() override {
        SymmetricBase::abandon();
        for (const auto& [inbox, by_sender] : values_)
            for (const auto& [sender, handle] : by_sender)
                fabric_.values().drop(handle);
        values_.clear();
    }

private:
    static constexpr std::uint64_t kStoredForData = 2;
    enum class Stage : std::uint8_t { kBegin, kStore, kSeen };
    /// Data received by a worker, in alternating buffers.
    struct Inbox {
        std::uint64_t bytes = 0;
        Time visible;
    };
    struct Worker {
        Task task;
        std::array<Inbox, 2> inboxes;
        bool waits = false;
    };
    [[nodiscard]] static std::uint64_t tag_of(Stage stage, std::uint32_t index) {
        return static_cast<std::uint64_t>(stage) << 56U | index;
    }

    void begin_block(std::uint32_t block) override {
        for (std::uint32_t i = 0; i < work_.workers(); ++i)
            next(first_worker(block) + i);
    }
    void on_event(std::uint64_t tag) override {
        const auto index = static_cast<std::uint32_t>(tag);
        if (abandoned_)
            return;
        switch (static_cast<Stage>(tag >> 56U)) {
        case Stage::kBegin:
            return begin_block(index);
        case Stage::kStore:
            return store(index);
        case Stage::kSeen:
            return use(index);
        }
    }

    void next(std::uint32_t worker) {
        Worker& w = workers_[worker];
        const std::uint32_t block = block_of(worker);
        if (!take(worker, w.task)) {
            if (--working_[block] == 0)
                end_block(block, scheduler_.now());
            return;
        }
        const bool scatters = spec_.kind == CollectiveKind::kReduceScatter;
        const Time loaded =
            load_own(position_of_worker(worker), w.task.piece.bytes * (scatters ? n_ : 1));
        scheduler_.at(loaded, *this, tag_of(Stage::kStore, worker));
    }

    /// Position in the sender's buffer of the data for a receiver.
    [[nodiscard]] std::uint64_t
    source(std::uint32_t sender, std::uint32_t receiver, const Part& piece) const {
        const bool scatters = spec_.kind == CollectiveKind::kReduceScatter;
        return share_of(scatters ? receiver : sender) + piece.begin;
    }

    void store(std::uint32_t worker) {
        Worker& w = workers_[worker];
        const std::uint32_t self = position_of_worker(worker);
        const Part& piece = w.task.piece;
        Fabric::Transfer lines{
            .kind = group_ ? PacketKind::kMulticastWrite : PacketKind::kWrite,
            .payload = static_cast<std::uint32_t>(piece.bytes * kStoredForData),
            .tag = (w.task.number % 2) << 32U | worker,
            .client = client_,
            .slot = w.task.number * workers_.size() + worker};
        if (group_) {
            lines.values = own_values(self, source(self, self, piece), piece.bytes);
            fabric_.send(*group_, self, lines);
        } else {
            for (std::uint32_t place = 1; place < n_; ++place) {
                const std::uint32_t peer = (self + place) % n_;
                lines.values = own_values(self, source(self, peer, piece), piece.bytes);
                fabric_.send(way(self, peer), lines);
            }
        }
        w.waits = true;
        try_use(worker);
    }

    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override {
        if (abandoned_) {
            fabric_.values().drop(packet.values);
            return;
        }
        const auto sender = static_cast<std::uint32_t>(packet.tag);
        const auto turn = static_cast<std::uint32_t>(packet.tag >> 32U);
        const std::uint32_t worker = like(sender, position_of(rank));
        Inbox& inbox = workers_[worker].inboxes[turn];
        inbox.bytes += packet.payload / kStoredForData;
        inbox.visible = std::max(inbox.visible, visible);
        if (packet.values != 0)
            values_[{worker, turn}][position_of_worker(sender)] = packet.values;
        try_use(worker);
    }

    void try_use(std::uint32_t worker) {
        Worker& w = workers_[worker];
        const std::uint64_t senders = group_ ? n_ : n_ - 1;
        const Inbox& inbox = w.inboxes[w.task.number % 2];
        if (!w.waits || inbox.bytes < senders * w.task.piece.bytes)
            return;
        SWITCHFOLD_CHECK(inbox.bytes == senders * w.task.piece.bytes, "lines of two pieces mixed");
        w.waits = false;
        const Time seen = std::max(scheduler_.now(), inbox.visible) + params_.poll;
        scheduler_.at(seen, *this, tag_of(Stage::kSeen, worker));
    }

    /// All ranks' pieces have arrived: adds or copies them.
    void use(std::uint32_t worker) {
        Worker& w = workers_[worker];
        const std::uint32_t self = position_of_worker(worker);
        const Part& piece = w.task.piece;
        const bool gathers = spec_.kind == CollectiveKind::kAllGather;
        port(self).access(piece.bytes * kStoredForData * n_, piece.bytes * (gathers ? n_ : 1));
        if (functional_)
            use_values(worker, self, piece);
        w.inboxes[w.task.number % 2] = {};
        next(worker);
    }

    void use_values(std::uint32_t worker, std::uint32_t self, const Part& piece) {
        const auto turn = static_cast<std::uint32_t>(workers_[worker].task.number % 2);
        auto node = values_.extract({worker, turn});
        std::map<std::uint32_t, std::uint32_t>& by_sender = node.mapped();
        if (!group_)
            by_sender[self] = own_values(self, source(self, self, piece), piece.bytes);
        if (spec_.kind == CollectiveKind::kAllGather) {
            for (const auto& [sender, handle] : by_sender)
                keep_values(self, share_of(sender) + piece.begin, handle);
            return;
        }
        std::vector<std::uint32_t> operands;
        for (const auto& [sender, handle] : by_sender)
            operands.push_back(handle);
        const std::uint32_t sum =
            fold(fabric_.values(), operands, spec_.element, Accumulation::kFloat32, true);
        keep_values(self, share_of(self) + piece.begin, sum);
    }

    std::uint32_t supply(const Packet& /*packet*/, std::uint32_t /*rank*/) override { return 0; }
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}

    std::vector<Worker> workers_;
    std::vector<std::uint32_t> working_;  ///< number of active workers, by block
    /// Functional mode: each sender's handle, by worker and turn.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint32_t>>
        values_;
};

}  // namespace

std::unique_ptr<RunningCollective> make_line_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    return make_group_collective<LineCollective>(environment, spec, listener, refused);
}

}  // namespace switchfold

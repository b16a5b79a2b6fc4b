// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/engine.h"
#include "models/collectives/functional.h"
#include "models/collectives/launch_spread.h"
#include "models/collectives/library.h"
#include "models/collectives/shortcuts/foldable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// A collective, from the arrival of its first rank to the end of its last.
class CollectiveEngine::Instance final : public MemberListener,
                                         public ResidentListener,
                                         private MemoListener {
public:
    /// Smaller collectives are simulated faster than counted.
    static constexpr Bytes kWorthRecalling = mebibytes(1);
    struct Member {
        CollectiveListener* listener = nullptr;
        std::uint32_t operation = 0;
        std::uint64_t ticket = 0;
        bool arrived = false;
        bool joined = false;
        Time joined_at;
        bool begun = false;        ///< its blocks get to work
        bool done = false;         ///< moves no more data
        std::uint32_t blocks = 0;  ///< on its own GPU
        bool ended = false;
    };
    Instance(CollectiveEngine& owner, const Key& the_key, CollectiveSpec the_spec) :
        engine(owner), key(the_key), spec(std::move(the_spec)), members(spec.ranks.size()) {
        record.kind = spec.kind;
        record.ranks = spec.size();
        record.bytes = spec.bytes;
        record.choice = spec.choice;
        record.as_traced = spec.given != Time();
        record.start = owner.clock_.now();
        record.fallback = spec.fallback;
        if (owner.functional_seed_ != 0 && spec.experts == nullptr && !record.as_traced)
            before = make_values(
                owner.functional_seed_ + owner.records_.size(), spec.ranks.size(),
                spec.bytes.count() / spec.element_bytes, spec.element);
        if (owner.memos_)
            part = owner.memos_->begins(spec);
        running = owner.make_running(*this);
        // Every exchange of experts has tokens of its own, and so have parts that differ. Numbers
        // are summed only where they travel.
        worth_recalling = owner.memos_ != nullptr && owner.functional_seed_ == 0 &&
                          spec.bytes >= kWorthRecalling && spec.experts == nullptr &&
                          spec.parts == nullptr && !record.as_traced &&
                          (!exchange() || spec.peers_late == Time()) && !is_message();
        if (worth_recalling) {
            like = key_of(spec);
            held = memo().knows(like);
        }
        if (!before.empty())
            give_values();
    }
    /// Functional mode: hands the collective what its members begin with.
    void give_values() { dynamic_cast<Functional&>(*running).buffers() = before; }
    void on_resident(std::uint32_t rank) override {
        const auto position = position_of(rank);
        // While ranks are late, blocks hold their slots without moving data.
        if (spec.peers_late == Time() || exchange())
            join(position);
        else
            engine.post(
                {MemberEvent::Kind::kPeersCome, this, position},
                engine.fabric_.scheduler().now() + spec.peers_late);
    }
    /// Of all its work; 0 where nothing tells.
    [[nodiscard]] double share_done() {
        if (const std::optional<double> share = running->share_begun())
            return *share;
        const auto* repeating = dynamic_cast<const Repeating*>(running.get());
        if (repeating == nullptr)
            return 0;
        const std::uint64_t left = repeating->skippable(0, 1);
        turns = std::max(turns, left);
        return turns == 0 ? 0 : 1 - static_cast<double>(left) / static_cast<double>(turns);
    }
    void join(std::uint32_t position) {
        members[position].joined = true;
        ++joined;
        const Time now = engine.fabric_.scheduler().now();
        members[position].joined_at = now;
        if (joined == 1) {
            first_joined = now;
            if (worth_recalling && engine.memos_->alone(part))
                memo().begins(*this);
        }
        if (moves_beside_messages())
            engine.messages_->other_begins();
        if (joined == members.size() && recalled(position))
            return;
        if (is_message() && engine.messages_->joins(
                                {this, spec.bytes, spec.choice.channels, spec.ranks[spec.root],
                                 spec.ranks[1 - spec.root], position, position == spec.root}))
            return;
        if (joined < members.size() && held) {
            if (joined == 1)
                engine.post({MemberEvent::Kind::kBegin, this, position}, now + together_within());
            return;
        }
        begin_held();
        begin(position);
    }
    /// Half of the launch latency precedes the first instruction, half follows the last.
    [[nodiscard]] Time before_work() const override {
        const ResidentShape shape = kernel_shape(engine.params_, spec);
        return shape.launch_latency / 2 + shape.start_overhead +
               latest_of(engine.params_.launch_spread, awaited_at_once(spec));
    }
    /// Members that join so closely count as together.
    [[nodiscard]] Time together_within() const {
        return std::max(before_work(), memo().patience(like));
    }
    /// Whether it passes as an earlier one, now that all have joined, the last at `position`.
    bool recalled(std::uint32_t position) {
        if (!worth_recalling || (running->leaves_operands() && any_begun()) || !all_move() ||
            !engine.memos_->undisturbed(part))
            return false;
        const Time now = engine.fabric_.scheduler().now();
        RecordedCollective::Joining joining;
        joining.late = now > first_joined + together_within();
        // What comes from a root, or goes to it, passes others whether or not the last has come.
        if (joining.late &&
            (spec.kind == CollectiveKind::kBroadcast || spec.kind == CollectiveKind::kReduce))
            return false;
        joining.spread = now - first_joined;
        joining.alone = joining.spread;
        joining.held = held;
        joining.all_wait = is_all_reduce_or_half(spec.kind);
        for (const Member& member : members) {
            joining.lags.push_back(now - member.joined_at);
            if (&member != &members[position])
                joining.alone = std::min(joining.alone, joining.lags.back());
        }
        MemoListener& self = *this;
        passing = memo().recall(
            joining.late ? with_late(like, position) : like, joining, engine.ports_of(spec),
            engine.memos_->alone(part), *this, self);
        held = held && !passing;
        return passing;
    }
    /// All members have joined, and none is done.
    [[nodiscard]] bool all_move() const {
        return std::ranges::all_of(
            members, [](const Member& member) { return member.joined && !member.done; });
    }
    [[nodiscard]] bool any_begun() const {
        return std::ranges::any_of(members, [](const Member& member) { return member.begun; });
    }
    /// Members that have joined get to work, as if nobody had held them.
    void begin_held() {
        if (!std::exchange(held, false))
            return;
        for (std::uint32_t position = 0; position < members.size(); ++position)
            if (members[position].joined && !members[position].begun)
                begin(position);
    }
    void begin(std::uint32_t position) {
        if (std::exchange(members[position].begun, true))
            return;
        engine.watch();
        running->join(position, begin_of_work(position));
    }
    [[nodiscard]] Time begin_of_work(std::uint32_t position) const {
        return std::max(
            members[position].joined_at + before_work(), engine.fabric_.scheduler().now());
    }
    void drop_begun() override { running->abandon(); }
    /// What is left of it is a collective of what is left of its data. What is done is whole pages
    /// of each rank's, so that the rest is as well aligned as the whole.
    void on_disturbed(double left) override {
        const std::uint64_t page = spec.size() * kibibytes(16).count();
        const std::uint64_t pages = (spec.bytes.count() - 1) / page;
        const double done = static_cast<double>(pages) * (1 - left);
        spec.bytes = Bytes(spec.bytes.count() - static_cast<std::uint64_t>(done) * page);
        worth_recalling = passing = false;
        if (left < 1 || any_begun()) {
            engine.retire(std::move(running));
            running = engine.make_running(*this);
        }
        engine.watch();
        for (std::uint32_t position = 0; position < members.size(); ++position)
            running->join(position, begin_of_work(position));
    }
    /// Whether its members hear from the recalled one only, not from what they had begun.
    [[nodiscard]] bool passes() const { return passing && memo().passes(*this); }
    [[nodiscard]] CollectiveMemo& memo() const { return engine.memos_->at(part); }
    /// Whether it may pass as an earlier message did.
    [[nodiscard]] bool is_message() const {
        return engine.messages_ != nullptr && key.front() == UINT64_MAX;
    }
    /// What waits for members moves little.
    [[nodiscard]] bool moves_beside_messages() const {
        return engine.messages_ != nullptr && !is_message() && !record.as_traced &&
               joined == members.size();
    }
    [[nodiscard]] bool exchange() const {
        return spec.kind == CollectiveKind::kAllToAll && !record.as_traced;
    }
    void on_failure(const std::string& why) override {
        std::string text = why;
        for (const auto& node : engine.fabric_.switches())
            if (node->reductions_failed())
                text += fmt::format(", {} has failed", node->basename());
        engine.run_as_ring(*this, Fallback::kReductionTimeout, text);
    }
    void on_member_done(std::uint32_t position, Time end) override {
        if (passes())
            return;
        members[position].done = true;
        if (worth_recalling)
            memo().told(*this, position, 0, 0, end);
        if (is_message())
            engine.messages_->told(*this, position == spec.root, end);
        const Time after = kernel_shape(engine.params_, spec).launch_latency / 2;
        engine.post({MemberEvent::Kind::kEnd, this, position}, end + after);
    }
    void on_round_done(
        std::uint32_t position, std::uint32_t left, std::uint32_t all, Time end) override {
        if (passes())
            return;
        if (left == 1 && spec.peers_late > Time())
            record.stalled = std::max(record.stalled, engine.clock_.of(end));
        if (worth_recalling)
            memo().told(*this, position, left, all, end);
        // Each block serves some of the rounds and leaves with the last of them.
        const std::uint32_t stay = (spec.choice.channels * left + all - 1) / all;
        if (stay < members[position].blocks)
            engine.post({MemberEvent::Kind::kBlocksLeave, this, position, stay}, end);
        members[position].blocks = std::min(members[position].blocks, stay);
    }
    [[nodiscard]] std::uint32_t position_of(std::uint32_t rank) const {
        const auto at = std::lower_bound(spec.ranks.begin(), spec.ranks.end(), rank);
        return static_cast<std::uint32_t>(at - spec.ranks.begin());
    }

    /// Name in reports and errors.
    [[nodiscard]] std::string label() const {
        if (record.kind == CollectiveKind::kSendReceive)
            return fmt::format(
                "transfer {} from rank {} to rank {}", record.sequence, record.sender,
                record.receiver);
        return fmt::format(
            "{} {} of group {}", to_string(record.kind), record.sequence, record.group);
    }

    CollectiveEngine& engine;
    Key key;
    CollectiveSpec spec;
    CollectiveRecord record;
    std::uint64_t turns = 0;  ///< most that were seen left
    std::vector<Member> members;
    std::unique_ptr<RunningCollective> running;
    std::vector<std::vector<float>> before;
    std::size_t arrived = 0;
    std::size_t joined = 0;
    std::size_t ended = 0;
    Time first_joined;
    bool worth_recalling = false;  ///< or an example to be
    CollectiveKey like;            ///< if it is
    std::uint32_t part = 0;        ///< of the machine, as memos number them
    bool passing = false;          ///< as an earlier one did
    bool held = false;             ///< for a while nobody begins, since all may join in it
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/programs/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

namespace switchfold::programs {

namespace {

/// What a place holds: a chunk, of these ranks added up, in ascending order.
struct Content {
    std::uint32_t chunk = 0;  ///< within the ranks' inputs
    std::vector<std::uint32_t> ranks;
    std::string by;  ///< pointer of the instruction that wrote it; empty: the input
};
using Held = std::shared_ptr<const Content>;

std::string words(const Held& held) {
    if (!held)
        return "nothing";
    std::string of;
    for (std::size_t i = 0; i < held->ranks.size();) {
        std::size_t last = i;
        while (last + 1 < held->ranks.size() && held->ranks[last + 1] == held->ranks[last] + 1)
            ++last;
        of += of.empty() ? "" : ",";
        of += last == i ? fmt::format("{}", held->ranks[i])
                        : fmt::format("{}-{}", held->ranks[i], held->ranks[last]);
        i = last + 1;
    }
    return fmt::format(
        "chunk {} of rank{} {}", held->chunk, held->ranks.size() == 1 ? "" : "s", of);
}

struct Wrong {
    Flaw flaw;
};

class Prover {
public:
    Prover(Program& program, std::uint32_t slots, bool backwards) :
        program_(program), slots_(slots), backwards_(backwards) {}

    void run() {
        connect();
        fill();
        while (round()) {
        }
        for (std::uint32_t rank = 0; rank < size(); ++rank)
            for (std::uint32_t b = 0; b < blocks(rank); ++b)
                if (state(rank, b).step < block(rank, b).steps.size())
                    tell_deadlock();
        for (const auto& [key, connection] : connections_)
            if (!connection.queue.empty())
                fail_rank(
                    connection.sent_by, fmt::format(
                                            "sends a chunk that rank {} never receives; expected a "
                                            "receive for every send",
                                            std::get<2>(key)));
        check_results();
    }

private:
    struct State {
        std::uint32_t step = 0;
        std::uint32_t done = 0;  ///< places of the instruction
        std::uint32_t barriers = 0;
        bool arrived = false;
    };
    struct Message {
        Held held;
        std::uint32_t count = 0;  ///< of the instruction that sent it
        std::uint32_t index = 0;
    };
    struct Connection {
        std::deque<Message> queue;
        std::uint32_t senders = 0;
        std::uint32_t receivers = 0;
        const Instruction* sent_by = nullptr;
    };
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // channel, from, to

    [[nodiscard]] std::uint32_t size() const { return program_.shape.ranks; }
    [[nodiscard]] std::uint32_t blocks(std::uint32_t rank) const {
        return static_cast<std::uint32_t>(program_.ranks[rank].blocks.size());
    }
    Block& block(std::uint32_t rank, std::uint32_t b) { return program_.ranks[rank].blocks[b]; }
    State& state(std::uint32_t rank, std::uint32_t b) { return states_[rank][b]; }
    [[nodiscard]] const std::string& pointer(const Instruction& step) const {
        return program_.sources[step.source];
    }
    [[noreturn]] void fail_rank(const Instruction* step, std::string what) const {
        throw Wrong{{step == nullptr ? "" : pointer(*step), std::move(what)}};
    }
    [[noreturn]] void
    fail(std::uint32_t rank, const Instruction& step, const std::string& what) const {
        throw Wrong{
            {pointer(step), fmt::format("{} at rank {}: {}", name_of(step.op), rank, what)}};
    }

    void connect() {
        states_.resize(size());
        for (std::uint32_t rank = 0; rank < size(); ++rank) {
            states_[rank].resize(blocks(rank));
            for (const Block& b : program_.ranks[rank].blocks) {
                if (b.send != kNobody)
                    ++connections_[{b.channel, rank, b.send}].senders;
                if (b.receive != kNobody)
                    ++connections_[{b.channel, b.receive, rank}].receivers;
                for (const Instruction& step : b.steps)
                    check_step(rank, b, step);
            }
        }
        for (const auto& [key, connection] : connections_) {
            const auto [channel, from, to] = key;
            if (connection.senders != 1 || connection.receivers != 1)
                throw Wrong{
                    {"", fmt::format(
                             "of rank {} to rank {} on channel {}, {} send and {} receive; "
                             "expected one "
                             "block that sends and one that receives",
                             from, to, channel, connection.senders, connection.receivers)}};
        }
    }

    void check_step(std::uint32_t rank, const Block& b, const Instruction& step) const {
        if (sends(step.op) && b.send == kNobody)
            fail(rank, step, "its block has no peer to send to; expected `send` of the block");
        if (receives(step.op) && b.receive == kNobody)
            fail(
                rank, step,
                "its block has no peer to receive from; expected `receive` of the block");
        // A switch reads and stores at all GPUs of the machine.
        const auto [first, last] =
            in_switch(step.op) ? machine_of(rank) : std::pair(rank, rank + 1);
        std::uint64_t places = program_.places(rank);
        for (std::uint32_t peer = first; peer < last; ++peer)
            places = std::min<std::uint64_t>(places, program_.places(peer));
        const bool reads = loads(step.op) || (in_switch(step.op) && step.op != Op::kBarrier);
        const bool writes =
            stores(step.op) || step.op == Op::kMulticastStore || step.op == Op::kMultimemReduceAll;
        if ((reads && std::uint64_t{step.from} + step.count > places) ||
            (writes && std::uint64_t{step.to} + step.count > places))
            fail(
                rank, step,
                fmt::format(
                    "it needs places beyond the {} of {}; expected places below that", places,
                    in_switch(step.op) ? "a GPU of its machine" : "its rank"));
        for (const After& after : step.after)
            if (after.block >= blocks(rank) ||
                after.step >= program_.ranks[rank].blocks[after.block].steps.size())
                fail(
                    rank, step,
                    fmt::format(
                        "it waits for step {} of block {}, which does not exist; expected a step "
                        "of this "
                        "rank",
                        after.step, after.block));
    }

    void fill() {
        memory_.resize(size());
        for (std::uint32_t rank = 0; rank < size(); ++rank) {
            memory_[rank].resize(program_.places(rank));
            if (program_.kind == CollectiveKind::kBroadcast && rank != program_.root)
                continue;
            for (std::uint32_t i = 0; i < program_.inputs(); ++i)
                memory_[rank][program_.input_at(rank) + i] =
                    std::make_shared<const Content>(Content{i, {rank}, {}});
        }
    }

    /// Every block goes as far as it can, once. \returns whether any moved.
    bool round() {
        bool moved = false;
        for (std::uint32_t i = 0; i < size(); ++i) {
            const std::uint32_t rank = backwards_ ? size() - 1 - i : i;
            for (std::uint32_t j = 0; j < blocks(rank); ++j) {
                const std::uint32_t b = backwards_ ? blocks(rank) - 1 - j : j;
                while (advance(rank, b))
                    moved = true;
            }
        }
        return moved;
    }

    [[nodiscard]] bool waits(std::uint32_t rank, const Instruction& step) {
        return std::ranges::any_of(step.after, [&](const After& after) {
            return state(rank, after.block).step <= after.step;
        });
    }

    /// One place of the block's instruction. \returns whether it moved.
    bool advance(std::uint32_t rank, std::uint32_t b) {
        State& s = state(rank, b);
        Block& own = block(rank, b);
        if (s.step == own.steps.size())
            return false;
        Instruction& step = own.steps[s.step];
        if (s.done == 0 && waits(rank, step))
            return false;
        if (step.op == Op::kNothing) {
            ++s.step;
            return true;
        }
        if (step.op == Op::kBarrier)
            return pass_barrier(rank, b);
        Connection* const in =
            receives(step.op) ? &connections_.at({own.channel, own.receive, rank}) : nullptr;
        Connection* const out =
            sends(step.op) ? &connections_.at({own.channel, rank, own.send}) : nullptr;
        if ((in != nullptr && in->queue.empty()) || (out != nullptr && out->queue.size() >= slots_))
            return false;
        move(rank, step, s.done, in, out);
        if (++s.done == step.count) {
            s.done = 0;
            ++s.step;
        }
        return true;
    }

    bool pass_barrier(std::uint32_t rank, std::uint32_t b) {
        State& s = state(rank, b);
        const auto [first, last] = machine_of(rank);
        if (!s.arrived) {
            s.arrived = true;
            ++s.barriers;
        }
        for (std::uint32_t peer = first; peer < last; ++peer) {
            if (b >= blocks(peer))
                fail(
                    rank, block(rank, b).steps[s.step],
                    fmt::format(
                        "rank {} has no block {} at this barrier; expected that block at all GPUs "
                        "of "
                        "the machine",
                        peer, b));
            if (state(peer, b).barriers < s.barriers)
                return false;
        }
        s.arrived = false;
        ++s.step;
        return true;
    }

    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> machine_of(std::uint32_t rank) const {
        const std::uint32_t each = program_.shape.per_machine;
        if (each == 0)
            return {0, size()};
        const std::uint32_t first = rank / each * each;
        return {first, std::min(first + each, size())};
    }

    Held read(std::uint32_t rank, const Instruction& step, std::uint32_t place) const {
        const Held& held = memory_[rank][place];
        if (!held)
            fail(
                rank, step,
                fmt::format(
                    "it reads {}, where nothing has been written; expected a place with data",
                    words_of(place)));
        return held;
    }

    [[nodiscard]] std::string words_of(std::uint32_t place) const {
        if (place < program_.chunks)
            return fmt::format("chunk {} of its buffer", place);
        if (place < program_.scratch_at())
            return fmt::format("chunk {} of its input", place - program_.chunks);
        return fmt::format("place {} of its scratch", place - program_.scratch_at());
    }

    Held add(std::uint32_t rank, const Instruction& step, const Held& a, const Held& b) const {
        if (a->chunk != b->chunk)
            fail(
                rank, step,
                fmt::format(
                    "it adds {} to {}; expected two sums of the same chunk", words(a), words(b)));
        Content sum{a->chunk, {}, pointer(step)};
        std::ranges::set_union(a->ranks, b->ranks, std::back_inserter(sum.ranks));
        if (sum.ranks.size() != a->ranks.size() + b->ranks.size())
            fail(
                rank, step,
                fmt::format(
                    "it adds {} to {}, so that a rank counts twice; expected each rank once",
                    words(a), words(b)));
        return std::make_shared<const Content>(std::move(sum));
    }

    Held written(const Held& held, const Instruction& step) const {
        if (held->by == pointer(step))
            return held;
        Content copy = *held;
        copy.by = pointer(step);
        return std::make_shared<const Content>(std::move(copy));
    }

    void
    move(std::uint32_t rank, Instruction& step, std::uint32_t i, Connection* in, Connection* out) {
        Held held;
        if (in != nullptr) {
            const Message message = in->queue.front();
            in->queue.pop_front();
            if (message.count != step.count || message.index != i)
                fail(
                    rank, step,
                    fmt::format(
                        "it takes {} chunks at once, but its peer sends {}; expected the same "
                        "count",
                        step.count, message.count));
            held = message.held;
        }
        if (loads(step.op)) {
            const Held own = read(rank, step, step.from + i);
            held = held ? add(rank, step, held, own) : own;
        }
        if (step.op == Op::kReduce)
            held = add(rank, step, held, read(rank, step, step.to + i));
        if (step.op == Op::kMultimemReduce || step.op == Op::kMultimemReduceAll)
            held = sum_of_machine(rank, step, step.from + i);
        // How long a place is follows from what lies there.
        const std::uint32_t chunk = held->chunk % program_.chunks_of_share();
        if (step.chunks.size() <= i)
            step.chunks.resize(i + 1U, chunk);
        step.chunks[i] = chunk;
        if (stores(step.op))
            memory_[rank][step.to + i] = written(held, step);
        if (step.op == Op::kMulticastStore || step.op == Op::kMultimemReduceAll) {
            const auto [first, last] = machine_of(rank);
            for (std::uint32_t peer = first; peer < last; ++peer)
                memory_[peer][step.to + i] = written(held, step);
        }
        if (out != nullptr) {
            out->queue.push_back({held, step.count, i});
            out->sent_by = &step;
        }
    }

    Held sum_of_machine(std::uint32_t rank, const Instruction& step, std::uint32_t place) const {
        const auto [first, last] = machine_of(rank);
        Held sum = read(first, step, place);
        for (std::uint32_t peer = first + 1; peer < last; ++peer)
            sum = add(rank, step, sum, read(peer, step, place));
        return sum;
    }

    [[noreturn]] void tell_deadlock() {
        for (std::uint32_t rank = 0; rank < size(); ++rank)
            for (std::uint32_t b = 0; b < blocks(rank); ++b) {
                const State& s = state(rank, b);
                if (s.step == block(rank, b).steps.size())
                    continue;
                const Instruction& step = block(rank, b).steps[s.step];
                const Block& own = block(rank, b);
                std::string why;
                for (const After& after : step.after)
                    if (state(rank, after.block).step <= after.step)
                        why = fmt::format(
                            "waits for {}", pointer(block(rank, after.block).steps[after.step]));
                if (why.empty() && step.op == Op::kBarrier)
                    why = "waits at a barrier that a GPU of the machine does not reach";
                if (why.empty() && receives(step.op) &&
                    connections_.at({own.channel, own.receive, rank}).queue.empty())
                    why = fmt::format("waits for rank {}, which sends nothing more", own.receive);
                if (why.empty())
                    why = fmt::format(
                        "waits for room in its connection to rank {}, which holds {} chunks",
                        own.send, slots_);
                fail(rank, step, "it never ends, since it " + why + "; expected no deadlock");
            }
        throw Wrong{{"", "never ends; expected no deadlock"}};
    }

    void check_results() const {
        for (std::uint32_t rank = 0; rank < size(); ++rank)
            for (std::uint32_t place = 0; place < program_.chunks; ++place)
                if (const Content wanted = expected(rank, place); !wanted.ranks.empty()) {
                    const Held& held = memory_[rank][place];
                    if (held && held->chunk == wanted.chunk && held->ranks == wanted.ranks)
                        continue;
                    const Held right = std::make_shared<const Content>(wanted);
                    throw Wrong{
                        {held ? held->by : std::string(),
                         fmt::format(
                             "rank {} ends with {} in {}{}; expected {}", rank, words(held),
                             words_of(place),
                             !held              ? ", where nothing writes"
                             : held->by.empty() ? ", where nothing writes over the input"
                                                : ", which this instruction wrote last",
                             words(right))}};
                }
    }

    /// What the collective leaves there; no ranks: anything.
    [[nodiscard]] Content expected(std::uint32_t rank, std::uint32_t place) const {
        std::vector<std::uint32_t> all(size());
        for (std::uint32_t i = 0; i < size(); ++i)
            all[i] = i;
        const std::uint32_t each = program_.chunks_of_share();
        switch (program_.kind) {
        case CollectiveKind::kAllGather:
            return {place % each, {place / each}, {}};
        case CollectiveKind::kReduceScatter:
            return {place, place / each == rank ? all : std::vector<std::uint32_t>(), {}};
        case CollectiveKind::kAllToAll:
            return {rank * each + place % each, {place / each}, {}};
        case CollectiveKind::kBroadcast:
            return {place, {program_.root}, {}};
        default:
            return {place, all, {}};
        }
    }

    Program& program_;
    std::uint32_t slots_;
    bool backwards_;
    std::map<Key, Connection> connections_;
    std::vector<std::vector<State>> states_;
    std::vector<std::vector<Held>> memory_;
};

}  // namespace

std::string_view name_of(Op op) {
    switch (op) {
    case Op::kNothing:
        return "nothing";
    case Op::kSend:
        return "send";
    case Op::kReceive:
        return "receive";
    case Op::kReceiveCopySend:
        return "receive_copy_send";
    case Op::kReceiveReduceSend:
        return "receive_reduce_send";
    case Op::kReceiveReduceCopy:
        return "receive_reduce_copy";
    case Op::kReceiveReduceCopySend:
        return "receive_reduce_copy_send";
    case Op::kCopy:
        return "copy";
    case Op::kReduce:
        return "reduce";
    case Op::kMultimemReduce:
        return "multimem_reduce";
    case Op::kMulticastStore:
        return "multicast_store";
    case Op::kMultimemReduceAll:
        return "multimem_reduce_all";
    case Op::kBarrier:
        return "barrier";
    }
    return "?";
}

std::optional<Flaw> find_flaw(Program& program, std::uint32_t slots) {
    for (const bool backwards : {false, true})
        try {
            Prover(program, slots, backwards).run();
        } catch (const Wrong& wrong) {
            return wrong.flaw;
        }
    return std::nullopt;
}

}  // namespace switchfold::programs

// SPDX-License-Identifier: Apache-2.0
// Graphs of Chakra say which bytes move and not what they are. What a message carries is what the
// receive before its send left; which chunk such a flow is of follows from a few readings, of which
// the first that the proof accepts is taken. An attribute `chunk` on sends and receives says it.
#include "core/error.h"
#include "models/collectives/programs/chakra_graphs.h"
#include "models/collectives/programs/proof.h"
#include "models/collectives/programs/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace switchfold::programs {

namespace {

using StepKind = ChakraStep::Kind;

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 5> kChakraKinds{
    {{"allreduce", CollectiveKind::kAllReduce},
     {"reducescatter", CollectiveKind::kReduceScatter},
     {"allgather", CollectiveKind::kAllGather},
     {"alltoall", CollectiveKind::kAllToAll},
     {"broadcast", CollectiveKind::kBroadcast}}};

/// How flows become chunks.
enum class Reading : std::uint8_t {
    kEachItsOwn,
    kByOrigin,       ///< the k-th send of a rank's own to any peer is of its chunk k
    kByDestination,  ///< what goes to a rank first is of that rank's chunk
    kOne,            ///< all are the same chunk
};
constexpr std::array kReadings{
    Reading::kEachItsOwn, Reading::kByOrigin, Reading::kByDestination, Reading::kOne};

/// Messages that carry one chunk on.
class Flows {
public:
    explicit Flows(std::size_t messages) : of_(messages) { std::iota(of_.begin(), of_.end(), 0U); }
    std::uint32_t root(std::uint32_t message) {
        while (of_[message] != message)
            message = of_[message] = of_[of_[message]];
        return message;
    }
    void join(std::uint32_t a, std::uint32_t b) { of_[root(a)] = root(b); }

private:
    std::vector<std::uint32_t> of_;
};

class ChakraProgram {
public:
    ChakraProgram(const ChakraGraphs& graphs, const std::filesystem::path& prefix) :
        graphs_(graphs), file_(prefix.string()) {}

    Program run() {
        std::optional<Flaw> first;
        bool named = false;
        const bool adds = std::ranges::any_of(graphs_.ranks, [](const ChakraRank& rank) {
            return std::ranges::any_of(
                rank, [](const ChakraStep& step) { return step.kind == StepKind::kReduce; });
        });
        for (const auto& [name, kind] : kChakraKinds) {
            const bool sums =
                kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
            if (graphs_.collective.empty() ? sums != adds : graphs_.collective != name)
                continue;
            named = true;
            for (const Reading reading : kReadings)
                for (const bool all_before : {false, true}) {
                    std::optional<Program> program =
                        told() ? with_told(kind) : with_flows(kind, reading, all_before);
                    if (!program)
                        continue;
                    constexpr std::uint32_t kChunksHeld = 2;  // of a connection with Simple
                    Program tried = *program;
                    const auto flaw = find_flaw(tried, kChunksHeld);
                    if (!flaw)
                        return std::move(*program);
                    if (!first)
                        first = flaw;
                    if (told())
                        break;
                }
        }
        if (!named)
            throw ConfigError(
                file_ + ".0.et", "metadata",
                fmt::format(
                    "names the collective {}; expected allreduce, reducescatter, allgather, "
                    "alltoall or "
                    "broadcast",
                    graphs_.collective));
        if (!first)
            throw ConfigError(
                file_, "/",
                "has messages of several sizes, or chunks that the ranks do not divide; expected "
                "messages of one size, or the attribute `chunk` on each");
        throw ConfigError(
            file_, first->pointer,
            fmt::format(
                "{} (of {} ranks; {})", first->what, size(),
                told() ? "chunks as the attribute says"
                       : "no reading of which chunk a message carries ends right, and this is "
                         "the first; the attribute `chunk` on sends and receives says it"));
    }

private:
    [[nodiscard]] std::uint32_t size() const {
        return static_cast<std::uint32_t>(graphs_.ranks.size());
    }
    [[nodiscard]] const ChakraStep& sender(const ChakraMessage& message) const {
        return graphs_.ranks[message.from][message.sent_by];
    }
    [[nodiscard]] bool told() const {
        return std::ranges::all_of(graphs_.messages, [&](const ChakraMessage& message) {
            return sender(message).chunk.has_value() &&
                   graphs_.ranks[message.to][message.received_by].chunk.has_value();
        });
    }

    /// What a send carries: the messages of receives and reductions that it waits for; the latest
    /// one, or all.
    std::vector<std::uint32_t> carried(const ChakraRank& rank, std::uint32_t node, bool all) const {
        std::vector<std::uint32_t> before = rank[node].before;
        std::ranges::sort(before, std::greater<>());
        std::vector<std::uint32_t> found;
        for (const std::uint32_t at : before) {
            if (rank[at].kind == StepKind::kSend || (!all && !found.empty()))
                continue;
            const auto messages = taken(rank, at);
            found.insert(found.end(), messages.begin(), messages.end());
        }
        return found;
    }
    /// Messages that a receive or a reduction took.
    static std::vector<std::uint32_t> taken(const ChakraRank& rank, std::uint32_t node) {
        if (rank[node].kind == StepKind::kReceive)
            return {rank[node].message};
        std::vector<std::uint32_t> found;
        for (const std::uint32_t before : rank[node].before)
            if (rank[before].kind == StepKind::kReceive)
                found.push_back(rank[before].message);
        return found;
    }

    /// Flows, and of each fresh send its number among those of its rank to that peer.
    struct Reached {
        Flows flows;
        std::map<std::uint32_t, std::uint32_t> fresh;  ///< by message
    };
    Reached reach(bool all_before) const {
        Reached reached{Flows(graphs_.messages.size()), {}};
        for (const ChakraRank& rank : graphs_.ranks) {
            std::map<std::uint32_t, std::uint32_t> sent;  // fresh ones by peer
            std::vector<bool> sent_on(rank.size());
            for (const ChakraStep& step : rank)
                if (step.kind == StepKind::kSend)
                    for (const std::uint32_t before : step.before)
                        sent_on[before] = true;
            for (std::uint32_t i = 0; i < rank.size(); ++i) {
                const ChakraStep& step = rank[i];
                if (step.kind == StepKind::kSend) {
                    const auto from = carried(rank, i, all_before);
                    for (const std::uint32_t message : from)
                        reached.flows.join(step.message, message);
                    if (from.empty())
                        reached.fresh[step.message] = sent[step.peer]++;
                } else if (step.kind == StepKind::kReduce) {
                    const auto messages = taken(rank, i);
                    for (const std::uint32_t message : messages)
                        reached.flows.join(message, messages.front());
                } else if (step.reduced) {
                    // A sum that is not sent on is added to again.
                    for (const std::uint32_t before : step.before)
                        if (rank[before].kind == StepKind::kReduce && !sent_on[before])
                            reached.flows.join(step.message, taken(rank, before).front());
                }
            }
        }
        return reached;
    }

    /// A place for each message, from flows. Nothing: this reading has no such collective.
    std::optional<Program> with_flows(CollectiveKind kind, Reading reading, bool all_before) const {
        for (const ChakraMessage& message : graphs_.messages)
            if (sender(message).bytes != graphs_.smallest)
                return std::nullopt;
        Reached reached = reach(all_before);
        // Flows that are of the same chunk become one.
        std::map<std::array<std::uint32_t, 2>, std::uint32_t> same;
        for (const auto& [message, number] : reached.fresh) {
            const ChakraMessage& of = graphs_.messages[message];
            std::array<std::uint32_t, 2> key{message, kNobody};
            if (reading == Reading::kByOrigin)
                key = {of.from, number};
            else if (reading == Reading::kByDestination)
                key = {of.to, number};
            else if (reading == Reading::kOne)
                key = {0, 0};
            const auto [at, is_new] = same.emplace(key, message);
            if (!is_new)
                reached.flows.join(message, at->second);
        }
        // Whose share a flow is of.
        std::map<std::uint32_t, std::uint32_t> owner;  // by root
        if (kind == CollectiveKind::kAllGather)
            for (const auto& [message, number] : reached.fresh)
                owner[reached.flows.root(message)] = graphs_.messages[message].from;
        if (kind == CollectiveKind::kReduceScatter)
            own_by_last(reached.flows, owner);
        std::vector<std::uint32_t> place(graphs_.messages.size());
        std::map<std::uint32_t, std::uint32_t> place_of;  // by root
        std::vector<std::uint32_t> used(size());
        std::uint32_t chunks = 0;
        for (std::uint32_t m = 0; m < place.size(); ++m) {
            const std::uint32_t root = reached.flows.root(m);
            if (const auto [at, is_new] = place_of.emplace(root, 0); is_new) {
                const auto whose = owner.find(root);
                at->second = whose == owner.end() ? chunks++ : used[whose->second]++;
            }
            place[m] = place_of.at(root);
        }
        if (kind == CollectiveKind::kAllToAll)
            return all_to_all(place, reached);
        if (!owner.empty()) {
            const std::uint32_t each = used.front();
            if (each == 0 || chunks > 0 ||
                std::ranges::any_of(used, [each](std::uint32_t u) { return u != each; }))
                return std::nullopt;
            for (std::uint32_t m = 0; m < place.size(); ++m)
                place[m] += owner.at(reached.flows.root(m)) * each;
            chunks = each * size();
        }
        if (chunks == 0 || chunks > kMostPlaces)
            return std::nullopt;
        return made(kind, chunks, place);
    }

    /// The rank where a flow's last reduction stands.
    void own_by_last(Flows& flows, std::map<std::uint32_t, std::uint32_t>& owner) const {
        std::set<std::pair<std::uint32_t, std::uint32_t>> sends;  // root, rank
        for (std::uint32_t m = 0; m < graphs_.messages.size(); ++m)
            sends.emplace(flows.root(m), graphs_.messages[m].from);
        for (std::uint32_t m = 0; m < graphs_.messages.size(); ++m) {
            const std::uint32_t root = flows.root(m);
            if (!sends.contains({root, graphs_.messages[m].to}))
                owner[root] = graphs_.messages[m].to;
        }
    }

    /// Every rank sends its own straight to all others, each the same number of chunks.
    std::optional<Program>
    all_to_all(const std::vector<std::uint32_t>& /*place*/, const Reached& reached) const {
        if (reached.fresh.size() != graphs_.messages.size())
            return std::nullopt;
        std::uint32_t each = 0;
        for (const auto& [message, number] : reached.fresh)
            each = std::max(each, number + 1);
        if (std::uint64_t{each} * size() > kMostPlaces)
            return std::nullopt;
        std::vector<std::uint32_t> to(graphs_.messages.size());
        std::vector<std::uint32_t> from(graphs_.messages.size());
        for (const auto& [message, number] : reached.fresh) {
            const ChakraMessage& of = graphs_.messages[message];
            from[message] = of.to * each + number;
            to[message] = of.from * each + number;
        }
        Program program = begun(CollectiveKind::kAllToAll, each * size());
        program.in_place = false;
        for (std::uint32_t& place : from)
            place += program.chunks;
        fill(program, from, to);
        // Graphs leave out a rank's own share, which NCCL copies.
        program.sources.emplace_back("a rank's own share");
        for (std::uint32_t r = 0; r < size(); ++r) {
            Instruction copy;
            copy.op = Op::kCopy;
            copy.from = program.chunks + r * each;
            copy.to = r * each;
            copy.count = each;
            copy.source = static_cast<std::uint32_t>(program.sources.size() - 1);
            Block block;
            block.channel = 0;
            block.steps.push_back(std::move(copy));
            program.ranks[r].blocks.push_back(std::move(block));
        }
        return program;
    }

    /// Places as the attribute says.
    std::optional<Program> with_told(CollectiveKind kind) const {
        std::uint32_t chunks = 0;
        std::vector<std::uint32_t> from;
        std::vector<std::uint32_t> to;
        for (const ChakraMessage& message : graphs_.messages) {
            const ChakraStep& send = sender(message);
            if (send.bytes % graphs_.smallest != 0)
                throw ConfigError(
                    file_, send.pointer,
                    fmt::format(
                        "moves {} bytes; expected a multiple of the smallest message, {} bytes",
                        send.bytes, graphs_.smallest));
            from.push_back(*send.chunk);
            to.push_back(*graphs_.ranks[message.to][message.received_by].chunk);
            const std::uint64_t count = send.bytes / graphs_.smallest;
            const std::uint64_t end = std::max(from.back(), to.back()) + count;
            if (end > kMostPlaces)
                throw ConfigError(
                    file_, send.pointer,
                    fmt::format("ends at chunk {}; expected {} at most", end, kMostPlaces));
            chunks = std::max(chunks, static_cast<std::uint32_t>(end));
        }
        Program program = begun(kind, chunks);
        if (program.of_shares() && chunks % size() != 0)
            return std::nullopt;
        fill(program, from, to);
        return program;
    }

    [[nodiscard]] Program begun(CollectiveKind kind, std::uint32_t chunks) const {
        Program program;
        program.kind = kind;
        program.shape = {size(), 0, 1};
        program.chunks = chunks;
        program.ranks.resize(size());
        if (kind == CollectiveKind::kBroadcast)
            for (std::uint32_t r = size(); r-- > 0;)
                if (std::ranges::none_of(graphs_.ranks[r], [](const ChakraStep& step) {
                        return step.kind == StepKind::kReceive;
                    }))
                    program.root = r;
        return program;
    }
    [[nodiscard]] Program
    made(CollectiveKind kind, std::uint32_t chunks, const std::vector<std::uint32_t>& place) const {
        Program program = begun(kind, chunks);
        fill(program, place, place);
        return program;
    }

    /// Blocks: one a peer, a direction and a tag. `from`, `to`: places at a message's ends.
    void fill(
        Program& program, const std::vector<std::uint32_t>& from,
        const std::vector<std::uint32_t>& to) const {
        for (std::uint32_t r = 0; r < size(); ++r) {
            const ChakraRank& rank = graphs_.ranks[r];
            std::vector<Block>& blocks = program.ranks[r].blocks;
            std::map<std::array<std::uint32_t, 3>, std::uint32_t> block_of;
            std::vector<After> at(rank.size());
            for (std::uint32_t i = 0; i < rank.size(); ++i) {
                const ChakraStep& step = rank[i];
                if (step.kind == StepKind::kReduce)
                    continue;
                const bool send = step.kind == StepKind::kSend;
                const auto [own, is_new] = block_of.emplace(
                    std::array{send ? 1U : 0U, step.peer, step.tag},
                    static_cast<std::uint32_t>(blocks.size()));
                if (is_new) {
                    blocks.emplace_back();
                    blocks.back().channel = step.tag;
                    (send ? blocks.back().send : blocks.back().receive) = step.peer;
                    if (blocks.size() > kMostBlocks)
                        throw ConfigError(
                            file_, step.pointer,
                            fmt::format(
                                "needs thread block {} of its rank, one a peer, direction and tag; "
                                "expected "
                                "{} at most",
                                blocks.size(), kMostBlocks));
                }
                Instruction made;
                made.op = send ? Op::kSend : step.reduced ? Op::kReceiveReduceCopy : Op::kReceive;
                made.from = send ? from[step.message] : to[step.message];
                made.to = to[step.message];
                made.count = static_cast<std::uint32_t>(step.bytes / graphs_.smallest);
                made.source = static_cast<std::uint32_t>(program.sources.size());
                program.sources.push_back(step.pointer);
                std::set<std::uint32_t> seen;
                for (const std::uint32_t before : step.before)
                    wait_for(rank, before, own->second, at, seen, made);
                at[i] = {own->second, static_cast<std::uint32_t>(blocks[own->second].steps.size())};
                blocks[own->second].steps.push_back(std::move(made));
            }
        }
    }

    /// A reduction is part of its receive.
    static void wait_for(
        const ChakraRank& rank, std::uint32_t node, std::uint32_t block,
        const std::vector<After>& at, std::set<std::uint32_t>& seen, Instruction& made) {
        if (!seen.insert(node).second)
            return;
        if (rank[node].kind == StepKind::kReduce) {
            for (const std::uint32_t before : rank[node].before)
                wait_for(rank, before, block, at, seen, made);
            return;
        }
        if (at[node].block != block)
            made.after.push_back(at[node]);
    }

    const ChakraGraphs& graphs_;
    std::string file_;
};

}  // namespace

Program program_from_chakra(const ChakraGraphs& graphs, const std::filesystem::path& prefix) {
    return ChakraProgram(graphs, prefix).run();
}

}  // namespace switchfold::programs

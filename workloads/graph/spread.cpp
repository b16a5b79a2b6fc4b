// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/spread.h"

#include "core/first_ranks.h"
#include "workloads/graph/group_table.h"
#include "workloads/graph/rank_box.h"
#include "workloads/graph/rank_classes.h"
#include "workloads/graph/uneven_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

std::string shown_ranks(const std::vector<std::uint32_t>& ranks) {
    constexpr std::size_t kShown = 8;
    if (ranks.size() <= kShown)
        return fmt::format("[{}]", fmt::join(ranks, ", "));
    return fmt::format(
        "[{}, ...] of {}", fmt::join(ranks.begin(), ranks.begin() + kShown, ", "), ranks.size());
}

/// How a group of the traced rank repeats.
struct Layout {
    bool fits = true;
    std::optional<RankBox> box;  ///< nothing: all ranks are one group
};

Layout layout_of(const Group& group, std::uint32_t rank, std::uint32_t world, std::uint32_t ranks) {
    const bool alone = group.ranks.size() == 1 && group.ranks.front() == rank;
    if (group.ranks.size() >= world || alone || ranks == 1)
        return {};
    auto box = RankBox::of(group.ranks);
    if (box && (!box->covers(world) || box->around(rank) != group.ranks))
        box.reset();
    if (box)
        box = box->scaled(world, ranks);
    return {box.has_value(), box};
}

class Spreader {
public:
    Spreader(
        ExecutionGraph& graph, std::uint32_t rank, std::uint32_t world, std::uint32_t ranks,
        const std::function<Time(std::size_t)>& traced, SpreadMessages kind,
        const AskedFold& fold) :
        graph_(graph),
        rank_(rank),
        world_(world),
        ranks_(ranks),
        traced_(traced),
        matches_(kind == SpreadMessages::kMatch),
        fold_(fold) {}

    Spread run() {
        lay_out();
        if (!spread_.problems.empty())
            return std::move(spread_);
        find_matching_messages();
        fill_exchanges();
        copy_ranks();
        tell();
        return std::move(spread_);
    }

private:
    [[nodiscard]] std::vector<std::uint32_t> everyone() const {
        std::vector<std::uint32_t> all = first_ranks(ranks_);
        return all;
    }

    /// Finds how each group of the trace repeats.
    void lay_out() {
        everyone_ = graph_.groups.size();
        std::vector<std::uint32_t> world = first_ranks(world_);
        traced_groups_ = graph_.groups;
        traced_groups_.push_back({"world", std::move(world)});
        spread_.problems = why_not_spread(graph_, rank_, world_, ranks_);
        if (spread_.problems.empty())
            for (const Group& group : traced_groups_)
                boxes_.push_back(layout_of(group, rank_, world_, ranks_).box);
    }

    [[nodiscard]] std::vector<std::uint32_t> members(std::size_t group, std::uint32_t rank) const {
        return boxes_[group] ? boxes_[group]->around(rank) : everyone();
    }

    /// A send or receive by its peer's place in the group that both are in.
    struct Message {
        std::size_t group = 0;
        std::uint32_t ahead = 0;  ///< places from the sender to the receiver, around the group
        std::uint64_t tag = 0;
        bool sends = false;
        Bytes bytes;
        [[nodiscard]] auto key() const { return std::tuple(group, ahead, tag); }
    };
    using Key = std::tuple<std::size_t, std::uint32_t, std::uint64_t>;

    [[nodiscard]] std::optional<Message> message_of(const Operation& operation) const {
        const auto* send = std::get_if<SendOperation>(&operation.body);
        const auto* receive = std::get_if<ReceiveOperation>(&operation.body);
        if (send == nullptr && receive == nullptr)
            return std::nullopt;
        const std::uint32_t peer = send != nullptr ? send->peer : receive->peer;
        Message message;
        message.sends = send != nullptr;
        message.tag = send != nullptr ? send->tag : receive->tag;
        message.bytes = send != nullptr ? send->bytes : receive->bytes;
        message.group = group_with(peer);
        const std::vector<std::uint32_t>& ranks = traced_groups_[message.group].ranks;
        const std::uint32_t own = place_in(ranks, rank_);
        const std::uint32_t other = place_in(ranks, peer);
        const auto size = static_cast<std::uint32_t>(ranks.size());
        message.ahead = message.sends ? (other + size - own) % size : (own + size - other) % size;
        return message;
    }

    static std::uint32_t place_in(const std::vector<std::uint32_t>& ranks, std::uint32_t rank) {
        return static_cast<std::uint32_t>(
            std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
    }

    /// The smallest group that holds the traced rank and its peer.
    [[nodiscard]] std::size_t group_with(std::uint32_t peer) const {
        std::size_t best = everyone_;
        for (std::size_t g = 0; g < traced_groups_.size(); ++g) {
            const std::vector<std::uint32_t>& ranks = traced_groups_[g].ranks;
            if (ranks.size() < traced_groups_[best].ranks.size() &&
                std::binary_search(ranks.begin(), ranks.end(), peer) &&
                std::binary_search(ranks.begin(), ranks.end(), rank_))
                best = g;
        }
        return best;
    }

    /// Where all ranks do the same, what one sends some places ahead another receives from as far
    /// behind: messages match if the trace has both, as often and with the same bytes.
    void find_matching_messages() {
        std::map<Key, std::vector<Bytes>> sent;
        std::map<Key, std::vector<Bytes>> received;
        for (const Operation& operation : graph_.ranks.front()->operations.pass())
            if (const auto message = message_of(operation)) {
                ++messages_;
                (message->sends ? sent : received)[message->key()].push_back(message->bytes);
            }
        for (const auto& [key, sizes] : sent) {
            const std::size_t group = std::get<0>(key);
            const auto there = received.find(key);
            const bool same_size = members(group, 0).size() == traced_groups_[group].ranks.size();
            if (matches_ && same_size && there != received.end() && there->second == sizes) {
                matching_.insert(key);
                spread_.matched += 2 * sizes.size();
            }
        }
    }

    /// Every rank's parts are the traced one's, moved round by as many places.
    void fill_exchanges() {
        for (const Operation& operation : graph_.ranks.front()->operations.pass()) {
            const auto* c = std::get_if<CollectiveOperation>(&operation.body);
            if (c == nullptr || c->exchange == 0)
                continue;
            const std::vector<std::uint32_t>& traced = traced_groups_[c->group].ranks;
            UnevenExchange& exchange = graph_.exchanges[c->exchange - 1];
            const auto own = std::find(traced.begin(), traced.end(), rank_) - traced.begin();
            repeat_parts(exchange, static_cast<std::uint32_t>(own));
            if (members(c->group, rank_).size() != exchange.ranks)
                resized_ = true;
            ++uneven_;
        }
    }

    void copy_ranks() {
        const std::shared_ptr<const RankGraph> one = graph_.ranks.front();
        graph_.groups.clear();
        GroupTable table(graph_.groups);
        std::map<std::vector<std::uint32_t>, std::shared_ptr<const RankGraph>> same;
        graph_.ranks.clear();
        std::vector<std::vector<std::uint32_t>> places;
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            std::vector<std::uint32_t>& place = places.emplace_back();
            for (std::size_t g = 0; g < traced_groups_.size(); ++g)
                // Only messages need a group of all that the trace does not use.
                if (g != everyone_ || messages_ > 0)
                    place.push_back(table.index({traced_groups_[g].name, members(g, rank)}));
            if (!matching_.empty())
                place.push_back(rank);  // its peers are its own
        }
        if (fold_.fold && matching_.empty())
            find_classes(places);
        const auto idle = std::make_shared<const RankGraph>();
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            auto& graph = same[places[rank]];
            const bool stands = graph_.represents.empty() || graph_.represents[rank] > 0;
            if (stands && !graph)
                graph = rank_graph(*one, rank, places[rank]);
            graph_.ranks.push_back(stands ? graph : idle);
        }
    }

    /// `places`: the groups of each rank.
    void find_classes(const std::vector<std::vector<std::uint32_t>>& places) {
        for (const std::vector<std::uint32_t>& place : places)
            add_to_orbits(place);
        std::vector<std::vector<std::vector<std::uint32_t>>> groups;
        for (const std::vector<std::uint32_t>& orbit : spread_.orbits) {
            auto& own = groups.emplace_back();
            for (const std::uint32_t group : orbit)
                own.push_back(graph_.groups[group].ranks);
        }
        std::vector<std::uint32_t> first(ranks_, 0);
        for (const auto& [rank, kind] : fold_.unlike)
            first[rank] = kind;
        graph_.represents = class_sizes(rank_classes(groups, std::move(first)));
    }

    /// `place`: the groups of a rank.
    void add_to_orbits(const std::vector<std::uint32_t>& place) {
        spread_.orbits.resize(place.size());
        for (std::size_t g = 0; g < place.size(); ++g) {
            std::vector<std::uint32_t>& orbit = spread_.orbits[g];
            if (!std::binary_search(orbit.begin(), orbit.end(), place[g]))
                orbit.insert(std::lower_bound(orbit.begin(), orbit.end(), place[g]), place[g]);
        }
    }

    std::shared_ptr<const RankGraph> rank_graph(
        const RankGraph& one, std::uint32_t rank, const std::vector<std::uint32_t>& groups) const {
        auto copy = std::make_shared<RankGraph>(one);
        std::map<std::uint32_t, std::uint64_t> sequences;  // by group
        for (std::size_t i = 0; i < copy->operations.size(); ++i) {
            copy->operations.forget_at(i);
            Operation& operation = copy->operations[i];
            if (auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                c->group = groups[c->group];
                if (c->exchange != 0 && resized_)
                    c->exchange = 0;
            } else if (const auto message = message_of(operation)) {
                place_message(operation, *message, rank, i, groups);
            }
            // Several groups of the trace may have become one.
            if (auto* c = std::get_if<CollectiveOperation>(&operation.body))
                c->sequence = sequences[c->group]++;
        }
        return copy;
    }

    void place_message(
        Operation& operation, const Message& message, std::uint32_t rank, std::size_t index,
        const std::vector<std::uint32_t>& groups) const {
        if (matching_.contains(message.key())) {
            const std::vector<std::uint32_t> ranks = members(message.group, rank);
            const auto size = static_cast<std::uint32_t>(ranks.size());
            const std::uint32_t own = place_in(ranks, rank);
            const std::uint32_t peer =
                ranks[(message.sends ? own + message.ahead : own + size - message.ahead) % size];
            if (auto* send = std::get_if<SendOperation>(&operation.body))
                send->peer = peer;
            else
                std::get<ReceiveOperation>(operation.body).peer = peer;
            return;
        }
        CollectiveOperation held;
        held.kind = CollectiveKind::kSendReceive;
        held.group = groups[everyone_];
        held.measured = held.given = traced_(index);
        held.holds_blocks = true;
        operation.body = held;
    }

    void tell() {
        std::string laid_out;
        std::size_t told = 0;
        for (std::size_t g = 0; g < boxes_.size(); ++g)
            if (boxes_[g] && told++ < 6)
                laid_out += fmt::format(
                    "{}{}, {}", laid_out.empty() ? "" : ", ", shown_ranks(members(g, 0)),
                    ranks_ > 1 ? shown_ranks(other(g)) : "");
        if (!laid_out.empty())
            spread_.notes.push_back(fmt::format(
                "one rank stands for all {}: process groups repeat by their strides, so {} ...",
                ranks_, laid_out));
        if (world_ != ranks_ && world_ > 1)
            spread_.notes.push_back(fmt::format(
                "the trace is of a run of {} ranks: groups that reach to its end reach to the end "
                "of {}, with the same bytes a rank",
                world_, ranks_));
        if (messages_ > spread_.matched)
            spread_.notes.push_back(fmt::format(
                "{} of {} sends and receives of the one traced rank {}: each holds a thread block "
                "for its traced time, which is all that is "
                "known "
                "of other stages; without overlap, what they do in addition is missing",
                messages_ - spread_.matched, messages_,
                matches_ ? "match none of a rank that does the same"
                         : "belong to a stage of a pipeline: ranks that all do the same would wait "
                           "for each other"));
        if (uneven_ > 0)
            spread_.notes.push_back(
                resized_ ? fmt::format(
                               "{} all-to-alls of uneven split sizes are taken as even: their "
                               "groups have another size here",
                               uneven_)
                         : fmt::format(
                               "{} all-to-alls have uneven split sizes: every rank is taken to "
                               "send the traced rank's, rotated by its place",
                               uneven_));
    }

    /// The ranks of a group's first repetition that rank 0 is not in.
    [[nodiscard]] std::vector<std::uint32_t> other(std::size_t group) const {
        const std::vector<std::uint32_t> first = members(group, 0);
        for (std::uint32_t rank = 1; rank < ranks_; ++rank)
            if (!std::binary_search(first.begin(), first.end(), rank))
                return members(group, rank);
        return first;
    }

    ExecutionGraph& graph_;
    std::uint32_t rank_;
    std::uint32_t world_;
    std::uint32_t ranks_;
    const std::function<Time(std::size_t)>& traced_;
    bool matches_;
    const AskedFold& fold_;
    Spread spread_;
    std::vector<std::optional<RankBox>> boxes_;  ///< by group; nothing: all ranks
    std::vector<Group> traced_groups_;
    std::set<Key> matching_;
    std::uint64_t messages_ = 0;
    std::uint64_t uneven_ = 0;
    bool resized_ = false;
    std::size_t everyone_ = 0;
};

}  // namespace

std::vector<std::string> why_not_spread(
    const ExecutionGraph& graph, std::uint32_t rank, std::uint32_t world, std::uint32_t ranks) {
    std::vector<std::string> misfits;
    for (const Group& group : graph.groups)
        if (!layout_of(group, rank, world, ranks).fits)
            misfits.push_back(fmt::format("{} {}", group.name, shown_ranks(group.ranks)));
    if (misfits.empty())
        return {};
    return {fmt::format(
        "rank {} of {} cannot stand for {} ranks: no layout by strides repeats its process group{} "
        "{}; expected groups of equal strides, or the traces of all ranks",
        rank, world, ranks, misfits.size() == 1 ? "" : "s", fmt::join(misfits, ", "))};
}

Spread spread_over_ranks(
    ExecutionGraph& graph, std::uint32_t rank, std::uint32_t world, std::uint32_t ranks,
    const std::function<Time(std::size_t)>& traced, SpreadMessages messages,
    const AskedFold& fold) {
    return Spreader(graph, rank, world, ranks, traced, messages, fold).run();
}

}  // namespace switchfold

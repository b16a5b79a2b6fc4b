// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/common_order.h"

#include "workloads/graph/serial_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace switchfold {

namespace {

/// A collective that other ranks wait for: not one that takes a fixed time.
const CollectiveOperation* awaited_collective(const Operation& operation) {
    const auto* collective = std::get_if<CollectiveOperation>(&operation.body);
    const bool alone =
        collective != nullptr && collective->given > Time() && !collective->holds_blocks;
    return alone || is_held_message(operation) ? nullptr : collective;
}

/// A collective, or a send with its receive.
struct Exchange {
    struct Part {
        std::size_t at = 0;  ///< place among the ranks
        std::uint32_t operation = 0;
    };
    std::vector<Part> parts;
    std::size_t ready = 0;    ///< parts that can be taken
    std::uint32_t place = 0;  ///< the least among its ranks' collectives or messages
    bool message = false;
    const CollectiveOperation* collective = nullptr;
};

class CommonOrder {
public:
    CommonOrder(const std::vector<RanksAlike>& ranks, const std::vector<Group>& groups) :
        ranks_(ranks), groups_(groups), meeting_of_(ranks.size()), taken_(ranks.size()) {
        for (std::size_t at = 0; at < ranks.size(); ++at) {
            orders_.emplace_back(*ranks[at].graph, true);
            find_parts(at);
            changed_.push_back(at);
        }
    }

    bool run(Sends sends) {
        do
            take_own();
        while (take_first(messages_) || take_first(collectives_) || begin_a_later_step() ||
               (sends == Sends::kAreBuffered && send_alone()));
        return std::all_of(
            orders_.begin(), orders_.end(), [](const SerialOrder& order) { return order.done(); });
    }

    std::vector<std::vector<std::uint32_t>> take() { return std::move(taken_); }

    /// Collectives and messages that only some of their ranks can take.
    [[nodiscard]] std::string waiting() const {
        constexpr std::size_t kShown = 3;
        std::string text;
        std::size_t shown = 0;
        for (const Exchange& meeting : meetings_) {
            if (meeting.ready == 0 || meeting.ready == meeting.parts.size() || shown++ == kShown)
                continue;
            const auto missing = std::find_if(
                meeting.parts.begin(), meeting.parts.end(), [&](const Exchange::Part& part) {
                    return !orders_[part.at].takeable().contains(part.operation);
                });
            text += fmt::format(
                "{}{} waits for rank {}", text.empty() ? "" : ", ", label(meeting),
                ranks_[missing->at].first);
        }
        return text;
    }

private:
    /// By preference: what some rank launches first.
    using Able = std::set<std::pair<std::uint32_t, std::size_t>>;

    void find_parts(std::size_t at) {
        const RankGraph& graph = *ranks_[at].graph;
        const std::uint32_t rank = ranks_[at].first;
        std::uint32_t messages = 0;
        std::uint32_t collectives = 0;
        for (std::uint32_t i = 0; i < graph.operations.size(); ++i) {
            const OperationBody& body = graph.operations[i].body;
            if (const auto* send = std::get_if<SendOperation>(&body)) {
                add_message(at, i, {rank, send->peer, send->tag, false}, messages++);
            } else if (const auto* receive = std::get_if<ReceiveOperation>(&body)) {
                add_message(at, i, {receive->peer, rank, receive->tag, true}, messages++);
            } else if (const auto* c = std::get_if<CollectiveOperation>(&body)) {
                const bool awaited = awaited_collective(graph.operations[i]) != nullptr;
                const auto [found, fresh] =
                    awaited ? by_collective_.try_emplace({c->group, c->sequence}, meetings_.size())
                            : std::pair(by_collective_.end(), true);
                const std::size_t meeting = fresh ? meetings_.size() : found->second;
                add_part(meeting, {at, i}, collectives++);
                meetings_[meeting].collective = c;
            }
        }
    }

    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, bool>;

    /// The n-th send of a channel meets its n-th receive.
    void add_message(std::size_t at, std::uint32_t i, const Channel& end, std::uint32_t place) {
        const auto& [sender, receiver, tag, receives] = end;
        const auto [found, fresh] =
            by_message_.try_emplace({sender, receiver, tag, counts_[end]++}, meetings_.size());
        add_part(found->second, {at, i}, place);
        meetings_[found->second].message = true;
    }

    void add_part(std::size_t meeting, const Exchange::Part& part, std::uint32_t place) {
        if (meeting == meetings_.size())
            meetings_.push_back({{}, 0, place, false, nullptr});
        Exchange& of = meetings_[meeting];
        of.place = std::min(of.place, place);
        of.parts.push_back(part);
        meeting_of_[part.at].emplace(part.operation, meeting);
    }

    /// What the ranks do by themselves.
    void take_own() {
        for (; !changed_.empty(); changed_.pop_front()) {
            const std::size_t at = changed_.front();
            SerialOrder& order = orders_[at];
            for (std::uint32_t i = order.next_own(); i != SerialOrder::kNone; i = order.next_own())
                taken_[at].push_back(i);
            for (const std::uint32_t i : order.newly_takeable()) {
                const std::size_t meeting = meeting_of_[at].at(i);
                ++meetings_[meeting].ready;
                if (meetings_[meeting].ready == meetings_[meeting].parts.size())
                    able(meeting);
            }
        }
    }

    void able(std::size_t meeting) {
        const Exchange& of = meetings_[meeting];
        (of.message ? messages_ : collectives_).emplace(of.place, meeting);
    }

    void take(const Exchange::Part& part) {
        orders_[part.at].take(part.operation);
        taken_[part.at].push_back(part.operation);
        changed_.push_back(part.at);
    }

    bool take_first(Able& of) {
        if (of.empty())
            return false;
        const std::size_t meeting = of.begin()->second;
        of.erase(of.begin());
        for (const Exchange::Part& part : meetings_[meeting].parts)
            take(part);
        meetings_[meeting].ready = 0;
        meetings_[meeting].parts.clear();
        return true;
    }

    /// Only if nothing else can go on.
    bool begin_a_later_step() {
        const auto next = std::min_element(
            orders_.begin(), orders_.end(), [](const SerialOrder& a, const SerialOrder& b) {
                return a.later_step() < b.later_step();
            });
        if (next == orders_.end() || next->later_step() == SerialOrder::kNone)
            return false;
        const auto at = static_cast<std::size_t>(next - orders_.begin());
        const std::uint32_t i = next->next_of_later_step();
        if (i != SerialOrder::kNone)
            taken_[at].push_back(i);
        changed_.push_back(at);
        return true;
    }

    /// Takes a send whose receive cannot be taken yet.
    bool send_alone() {
        for (std::size_t at = 0; at < orders_.size(); ++at)
            for (const std::uint32_t i : orders_[at].takeable()) {
                if (!std::holds_alternative<SendOperation>(ranks_[at].graph->operations[i].body))
                    continue;
                const std::size_t meeting = meeting_of_[at].at(i);
                Exchange& of = meetings_[meeting];
                take({at, i});
                std::erase_if(of.parts, [&](const Exchange::Part& part) {
                    return part.at == at && part.operation == i;
                });
                --of.ready;
                return true;
            }
        return false;
    }

    [[nodiscard]] std::string label(const Exchange& meeting) const {
        if (meeting.collective != nullptr)
            return fmt::format(
                "{} {} of group {}", to_string(meeting.collective->kind),
                meeting.collective->sequence, groups_[meeting.collective->group].name);
        return fmt::format(
            "a message between ranks {} and {}", ranks_[meeting.parts.front().at].first,
            ranks_[meeting.parts.back().at].first);
    }

    const std::vector<RanksAlike>& ranks_;
    const std::vector<Group>& groups_;
    std::deque<SerialOrder> orders_;
    std::vector<Exchange> meetings_;
    std::vector<std::unordered_map<std::uint32_t, std::size_t>> meeting_of_;  ///< by operation
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> by_collective_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>, std::size_t>
        by_message_;
    std::map<Channel, std::uint64_t> counts_;
    std::vector<std::vector<std::uint32_t>> taken_;
    std::deque<std::size_t> changed_;
    Able messages_;
    Able collectives_;
};

}  // namespace

std::vector<RanksAlike>
ranks_alike(const ExecutionGraph& graph, std::vector<std::size_t>* alike_of) {
    std::vector<RanksAlike> all;
    std::map<const RankGraph*, std::size_t> found;
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank) {
        const RankGraph* own = graph.ranks[rank].get();
        auto at = found.find(own);
        if (at == found.end()) {
            const bool messages =
                std::any_of(own->operations.begin(), own->operations.end(), is_message);
            at = found.emplace(own, messages ? SIZE_MAX : all.size()).first;
        }
        const bool fresh = at->second == SIZE_MAX || at->second == all.size();
        if (alike_of != nullptr)
            alike_of->push_back(fresh ? all.size() : at->second);
        if (fresh)
            all.push_back({rank, own});
    }
    return all;
}

std::optional<std::vector<std::vector<std::uint32_t>>> common_order(
    const std::vector<RanksAlike>& ranks, const std::vector<Group>& groups, Sends sends,
    std::string& why) {
    CommonOrder order(ranks, groups);
    if (order.run(sends))
        return order.take();
    why = order.waiting();
    return std::nullopt;
}

bool collectives_agree(const std::vector<RanksAlike>& ranks) {
    using Key = std::pair<std::uint32_t, std::uint64_t>;
    struct Parts {
        std::size_t all = 0;
        std::vector<std::size_t> next;  ///< ranks of which it is the next
    };
    std::map<Key, Parts> parts;
    std::vector<std::vector<Key>> lists(ranks.size());
    for (std::size_t at = 0; at < ranks.size(); ++at) {
        for (const Operation& operation : ranks[at].graph->operations)
            if (const CollectiveOperation* c = awaited_collective(operation)) {
                lists[at].emplace_back(c->group, c->sequence);
                ++parts[lists[at].back()].all;
            }
        std::reverse(lists[at].begin(), lists[at].end());
    }
    std::vector<std::size_t> moved;
    for (std::size_t at = 0; at < ranks.size(); ++at)
        moved.push_back(at);
    while (!moved.empty()) {
        const std::size_t at = moved.back();
        moved.pop_back();
        if (lists[at].empty())
            continue;
        Parts& of = parts.at(lists[at].back());
        of.next.push_back(at);
        if (of.next.size() < of.all)
            continue;
        for (const std::size_t rank : of.next) {
            lists[rank].pop_back();
            moved.push_back(rank);
        }
    }
    return std::all_of(
        lists.begin(), lists.end(), [](const std::vector<Key>& list) { return list.empty(); });
}

}  // namespace switchfold

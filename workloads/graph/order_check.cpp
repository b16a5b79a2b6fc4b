// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/order_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

constexpr std::size_t kMostSentences = 8;

struct Place {
    std::uint32_t rank = 0;
    std::uint32_t operation = 0;
};

/// The ranks of one collective that have come to it.
struct Meeting {
    std::vector<Place> come;
};

/// Sends and receives of one pair of ranks and tag that wait for each other.
struct Mailbox {
    std::deque<Place> sends;
    std::deque<Place> receives;
};

class Walk {
public:
    explicit Walk(const ExecutionGraph& graph) : graph_(graph) {
        for (const auto& rank : graph.ranks)
            if (!successors_.contains(rank.get()))
                successors_.emplace(rank.get(), Successors(*rank));
        for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
            const Successors& of = successors_.at(graph.ranks[r].get());
            waiting_.push_back(of.before);
            for (std::uint32_t i = 0; i < of.before.size(); ++i)
                if (of.before[i] == 0)
                    ready_.push_back({r, i});
        }
    }

    std::vector<std::string> run() {
        while (!ready_.empty()) {
            const Place place = ready_.front();
            ready_.pop_front();
            begin(place);
        }
        tell_waiting();
        return std::move(found_);
    }

private:
    /// What follows each operation of a rank, and how many come before it.
    struct Successors {
        std::vector<std::uint32_t> first;  ///< into `next`, by operation; one more at the end
        std::vector<std::uint32_t> next;
        std::vector<std::uint32_t> before;

        explicit Successors(const RankGraph& rank) {
            const auto count = static_cast<std::uint32_t>(rank.operations.size());
            first.assign(count + 1, 0);
            before.assign(count, 0);
            const auto each = [&](const auto& visit) {
                std::vector<std::uint32_t> last(rank.streams.size(), UINT32_MAX);
                for (std::uint32_t i = 0; i < count; ++i) {
                    rank.operations.forget_at(i);
                    const Operation& operation = rank.operations[i];
                    for (const std::uint32_t dependency : operation.dependencies)
                        visit(dependency, i);
                    std::uint32_t& previous = last[operation.stream];
                    if (previous != UINT32_MAX)
                        visit(previous, i);
                    previous = i;
                }
            };
            each([&](std::uint32_t from, std::uint32_t to) {
                ++first[from + 1];
                ++before[to];
            });
            for (std::uint32_t i = 0; i < count; ++i)
                first[i + 1] += first[i];
            next.resize(first[count]);
            std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
            each([&](std::uint32_t from, std::uint32_t to) { next[at[from]++] = to; });
        }
    };

    [[nodiscard]] const Operation& operation(const Place& place) const {
        return graph_.ranks[place.rank]->operations[place.operation];
    }

    void begin(const Place& place) {
        const OperationBody& body = operation(place).body;
        if (const auto* c = std::get_if<CollectiveOperation>(&body);
            c != nullptr && (c->given == Time() || c->holds_blocks))
            return meet(place, *c);
        if (const auto* send = std::get_if<SendOperation>(&body)) {
            Mailbox& box = boxes_[{place.rank, send->peer, send->tag}];
            box.sends.push_back(place);
            return deliver(box);
        }
        if (const auto* receive = std::get_if<ReceiveOperation>(&body)) {
            Mailbox& box = boxes_[{receive->peer, place.rank, receive->tag}];
            box.receives.push_back(place);
            return deliver(box);
        }
        end(place);
    }

    void meet(const Place& place, const CollectiveOperation& c) {
        Meeting& meeting = meetings_[{c.group, c.sequence}];
        meeting.come.push_back(place);
        const auto& first = std::get<CollectiveOperation>(operation(meeting.come.front()).body);
        const bool sizes = c.exchange == 0 && c.size_source == SizeSource::kTrace &&
                           first.size_source == SizeSource::kTrace && !c.holds_blocks;
        if (c.kind != first.kind || c.exchange != first.exchange ||
            (sizes && c.bytes != first.bytes))
            say(fmt::format(
                "rank {} calls {} of {} as number {} of group {}, and rank {} {} of {}", place.rank,
                to_string(c.kind), to_string(c.bytes), c.sequence, graph_.groups[c.group].name,
                meeting.come.front().rank, to_string(first.kind), to_string(first.bytes)));
        if (meeting.come.size() < graph_.groups[c.group].ranks.size())
            return;
        const std::vector<Place> come = std::move(meeting.come);
        meetings_.erase({c.group, c.sequence});
        for (const Place& member : come)
            end(member);
    }

    void deliver(Mailbox& box) {
        while (!box.sends.empty() && !box.receives.empty()) {
            const Place from = box.sends.front();
            const Place to = box.receives.front();
            box.sends.pop_front();
            box.receives.pop_front();
            const Bytes sent = std::get<SendOperation>(operation(from).body).bytes;
            const Bytes expected = std::get<ReceiveOperation>(operation(to).body).bytes;
            if (sent != expected)
                say(fmt::format(
                    "rank {} sends {} to rank {}, which receives {}", from.rank, to_string(sent),
                    to.rank, to_string(expected)));
            end(from);
            end(to);
        }
    }

    void end(const Place& place) {
        const Successors& of = successors_.at(graph_.ranks[place.rank].get());
        for (std::uint32_t k = of.first[place.operation]; k < of.first[place.operation + 1]; ++k)
            if (--waiting_[place.rank][of.next[k]] == 0)
                ready_.push_back({place.rank, of.next[k]});
    }

    void say(std::string sentence) {
        if (found_.size() < kMostSentences)
            found_.push_back(std::move(sentence));
    }

    void tell_waiting() {
        for (const auto& [key, meeting] : meetings_) {
            const Group& group = graph_.groups[key.first];
            std::vector<std::uint32_t> missing = group.ranks;
            for (const Place& place : meeting.come)
                std::erase(missing, place.rank);
            constexpr std::size_t kShown = 8;
            const std::size_t more = missing.size() > kShown ? missing.size() - kShown : 0;
            missing.resize(missing.size() - more);
            const auto& c = std::get<CollectiveOperation>(operation(meeting.come.front()).body);
            say(fmt::format(
                "{} number {} of group {} waits for rank{} {}{}", to_string(c.kind), c.sequence,
                group.name, missing.size() + more == 1 ? "" : "s", fmt::join(missing, ", "),
                more == 0 ? "" : fmt::format(" and {} more", more)));
        }
        for (const auto& [key, box] : boxes_) {
            if (!box.sends.empty())
                say(fmt::format(
                    "{} of rank {} to rank {} find no receive there",
                    box.sends.size() == 1 ? "a send" : fmt::format("{} sends", box.sends.size()),
                    std::get<0>(key), std::get<1>(key)));
            if (!box.receives.empty())
                say(fmt::format(
                    "{} of rank {} from rank {} find no send there",
                    box.receives.size() == 1 ? "a receive"
                                             : fmt::format("{} receives", box.receives.size()),
                    std::get<1>(key), std::get<0>(key)));
        }
    }

    const ExecutionGraph& graph_;
    std::map<const RankGraph*, Successors> successors_;
    std::vector<std::vector<std::uint32_t>> waiting_;  ///< by rank and operation
    std::deque<Place> ready_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Meeting> meetings_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, Mailbox> boxes_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> why_it_cannot_end(const ExecutionGraph& graph) {
    return Walk(graph).run();
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/extrapolate.h"

#include "core/error.h"
#include "workloads/graph/rank_box.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kEveryone = UINT32_MAX;

/// Calls visit(rank, peer) for each send and receive.
template <class Visit>
void each_message(const ExecutionGraph& graph, Visit visit) {
    for (std::uint32_t r = 0; r < graph.ranks.size(); ++r)
        for (const Operation& operation : graph.ranks[r]->operations)
            if (const auto* send = std::get_if<SendOperation>(&operation.body))
                visit(r, send->peer);
            else if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body))
                visit(r, receive->peer);
}

/// By group, whether it grows with the run, as those of replicas do: it holds all ranks, or reaches
/// to the end of the run as frameworks lay out groups, or where stages of a pipeline do that, to
/// the end of a stage.
class GrowingGroups {
public:
    explicit GrowingGroups(const ExecutionGraph& graph) :
        ranks_(static_cast<std::uint32_t>(graph.ranks.size())) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> messages;
        each_message(
            graph, [&](std::uint32_t a, std::uint32_t b) { messages.insert(std::minmax(a, b)); });
        std::uint32_t stage = 0;
        for (const auto& [a, b] : messages)
            stage = std::gcd(stage, b - a);
        std::vector<bool> of_stages;
        for (const Group& group : graph.groups)
            of_stages.push_back(std::any_of(messages.begin(), messages.end(), [&](const auto& m) {
                return holds(group, m.first) && holds(group, m.second);
            }));
        const auto mark = [&](std::uint32_t end) {
            for (std::size_t g = 0; g < graph.groups.size(); ++g)
                grow_.push_back(
                    graph.groups[g].ranks.size() == ranks_ ||
                    (!of_stages[g] && reaches(graph.groups[g], end)));
        };
        mark(ranks_);
        const auto replicas = [&](std::size_t g) {
            return grow_[g] && graph.groups[g].ranks.size() < ranks_;
        };
        bool any = false;
        for (std::size_t g = 0; g < grow_.size(); ++g)
            any = any || replicas(g);
        if (any || stage == 0 || ranks_ % stage != 0)
            return;
        grow_.clear();
        mark(stage);
    }
    [[nodiscard]] bool operator[](std::size_t group) const { return grow_[group]; }

private:
    static bool holds(const Group& group, std::uint32_t rank) {
        return std::binary_search(group.ranks.begin(), group.ranks.end(), rank);
    }
    static bool reaches(const Group& group, std::uint32_t end) {
        const auto box = RankBox::of(group.ranks);
        return box && !box->sides().empty() && box->covers(end) &&
               box->around(group.ranks.front()) == group.ranks &&
               box->sides().back().stride * box->sides().back().count == end;
    }

    std::uint32_t ranks_;
    std::vector<bool> grow_;
};

/// For each traced group, the index of its counterpart in the k-th copy of the traced ranks;
/// creates groups as needed.
std::vector<std::uint32_t> groups_of_copy(
    std::vector<Group>& groups, std::size_t traced_groups, const GrowingGroups& growing,
    std::uint32_t traced, std::uint32_t k) {
    std::vector<std::uint32_t> index(traced_groups);
    for (std::size_t g = 0; g < traced_groups; ++g) {
        if (growing[g]) {
            index[g] = kEveryone;
            continue;
        }
        Group copy = groups[g];
        for (std::uint32_t& rank : copy.ranks)
            rank += k * traced;
        index[g] = static_cast<std::uint32_t>(groups.size());
        groups.push_back(std::move(copy));
    }
    return index;
}

std::shared_ptr<const RankGraph> copy_of(
    const std::shared_ptr<const RankGraph>& rank, const std::vector<std::uint32_t>& groups,
    std::uint32_t offset) {
    const bool same = std::none_of(
        rank->operations.begin(), rank->operations.end(), [&](const Operation& operation) {
            const auto* c = std::get_if<CollectiveOperation>(&operation.body);
            return (c != nullptr && groups[c->group] != kEveryone) ||
                   std::holds_alternative<SendOperation>(operation.body) ||
                   std::holds_alternative<ReceiveOperation>(operation.body);
        });
    if (same)
        return rank;
    auto copy = std::make_shared<RankGraph>(*rank);
    for (Operation& operation : copy->operations) {
        if (auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
            if (groups[c->group] != kEveryone)
                c->group = groups[c->group];
        } else if (auto* send = std::get_if<SendOperation>(&operation.body)) {
            send->peer += offset;
        } else if (auto* receive = std::get_if<ReceiveOperation>(&operation.body)) {
            receive->peer += offset;
        }
    }
    return copy;
}

/// The exchange of `times` as many ranks, of which each still sends as much: the r-th to the s-th
/// as r and s modulo the ranks of before do, divided by `times`.
UnevenExchange repeated(const UnevenExchange& exchange, std::uint32_t times) {
    UnevenExchange more = UnevenExchange::of(exchange.ranks * times);
    for (std::uint32_t from = 0; from < more.ranks; ++from)
        for (std::uint32_t to = 0; to < more.ranks; ++to) {
            const std::uint64_t bytes = exchange.at(from % exchange.ranks, to % exchange.ranks);
            more.at(from, to) = bytes == UnevenExchange::kUnknown ? bytes : bytes / times;
        }
    return more;
}

/// By rank, how many its rank in other copies it stands for. Copies with a rank of `unlike` stand
/// for themselves, and the first without for all others.
std::vector<std::uint32_t> copies_represented(
    std::uint32_t traced, std::uint32_t copies,
    const std::map<std::uint32_t, std::uint32_t>& unlike) {
    std::vector<std::uint32_t> of_copy(copies, 0);
    for (const auto& [rank, kind] : unlike)
        of_copy[rank / traced] = 1;
    const auto alike = static_cast<std::uint32_t>(std::count(of_copy.begin(), of_copy.end(), 0U));
    if (alike > 0)
        *std::find(of_copy.begin(), of_copy.end(), 0U) = alike;
    std::vector<std::uint32_t> represents;
    for (const std::uint32_t stands_for : of_copy)
        represents.insert(represents.end(), traced, stands_for);
    return represents;
}

}  // namespace

Extrapolated extrapolate(ExecutionGraph& graph, std::uint32_t ranks, const AskedFold& fold) {
    const auto traced = static_cast<std::uint32_t>(graph.ranks.size());
    SWITCHFOLD_CHECK(
        traced > 0 && ranks % traced == 0, "{} ranks are no multiple of {}", ranks, traced);
    const std::size_t traced_groups = graph.groups.size();
    const GrowingGroups growing(graph);
    std::set<std::uint32_t> grown_exchanges;
    for (const auto& rank : graph.ranks)
        for (const Operation& operation : rank->operations)
            if (const auto* c = std::get_if<CollectiveOperation>(&operation.body);
                c != nullptr && c->exchange != 0 && growing[c->group])
                grown_exchanges.insert(c->exchange - 1);
    for (const std::uint32_t exchange : grown_exchanges)
        graph.exchanges[exchange] = repeated(graph.exchanges[exchange], ranks / traced);
    Extrapolated done;
    for (std::uint32_t g = 0; fold.fold && g < traced_groups; ++g)
        done.orbits.push_back({g});
    if (fold.fold)
        graph.represents = copies_represented(traced, ranks / traced, fold.unlike);
    const auto idle = std::make_shared<const RankGraph>();
    for (std::uint32_t k = 1; k < ranks / traced; ++k) {
        const std::vector<std::uint32_t> groups =
            groups_of_copy(graph.groups, traced_groups, growing, traced, k);
        for (std::size_t g = 0; fold.fold && g < traced_groups; ++g)
            if (groups[g] != kEveryone)
                done.orbits[g].push_back(groups[g]);
        for (std::uint32_t r = 0; r < traced; ++r)
            graph.ranks.push_back(
                graph.represents.empty() || graph.represents[graph.ranks.size()] > 0
                    ? copy_of(graph.ranks[r], groups, k * traced)
                    : idle);
    }
    std::size_t everyone = 0;
    std::size_t replicas = 0;
    for (std::size_t g = 0; g < traced_groups; ++g) {
        if (!growing[g])
            continue;
        std::vector<std::uint32_t>& members = graph.groups[g].ranks;
        (members.size() == traced ? everyone : replicas) += 1;
        const std::vector<std::uint32_t> copy = members;
        for (std::uint32_t k = 1; k < ranks / traced; ++k)
            for (const std::uint32_t rank : copy)
                members.push_back(rank + k * traced);
    }
    done.notes = {
        fmt::format(
            "extrapolated from {} ranks to {}: rank r does what rank r modulo {} did, with the "
            "same work a rank",
            traced, ranks, traced),
        fmt::format(
            "{} groups of all {} ranks became groups of all {}, their sizes in bytes unchanged; {} "
            "that reach to the end of the run (or of a pipeline's stage) have {} times as many "
            "ranks; {} smaller groups are repeated in each {} ranks",
            everyone, traced, ranks, replicas, ranks / traced, traced_groups - everyone - replicas,
            traced)};
    return done;
}

}  // namespace switchfold

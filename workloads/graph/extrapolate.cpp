// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/extrapolate.h"

#include "core/error.h"
#include "core/first_ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint32_t kEveryone = UINT32_MAX;

/// For each traced group, the index of its counterpart in the k-th copy of the traced ranks;
/// creates groups as needed.
std::vector<std::uint32_t> groups_of_copy(
    std::vector<Group>& groups, std::size_t traced_groups, std::uint32_t traced, std::uint32_t k) {
    std::vector<std::uint32_t> index(traced_groups);
    for (std::size_t g = 0; g < traced_groups; ++g) {
        if (groups[g].ranks.size() == traced) {
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
    std::uint32_t grown = 0;
    for (UnevenExchange& exchange : graph.exchanges)
        if (exchange.ranks == traced)
            exchange = repeated(exchange, ranks / traced);
    Extrapolated done;
    for (std::uint32_t g = 0; fold.fold && g < traced_groups; ++g)
        done.orbits.push_back({g});
    if (fold.fold)
        graph.represents = copies_represented(traced, ranks / traced, fold.unlike);
    const auto idle = std::make_shared<const RankGraph>();
    for (std::uint32_t k = 1; k < ranks / traced; ++k) {
        const std::vector<std::uint32_t> groups =
            groups_of_copy(graph.groups, traced_groups, traced, k);
        for (std::size_t g = 0; fold.fold && g < traced_groups; ++g)
            if (groups[g] != kEveryone)
                done.orbits[g].push_back(groups[g]);
        for (std::uint32_t r = 0; r < traced; ++r)
            graph.ranks.push_back(
                graph.represents.empty() || graph.represents[graph.ranks.size()] > 0
                    ? copy_of(graph.ranks[r], groups, k * traced)
                    : idle);
    }
    for (std::size_t g = 0; g < traced_groups; ++g) {
        Group& group = graph.groups[g];
        if (group.ranks.size() != traced)
            continue;
        group.ranks = first_ranks(ranks);
        ++grown;
    }
    done.notes = {
        fmt::format(
            "extrapolated from {} ranks to {}: rank r does what rank r modulo {} did, with the "
            "same work a rank",
            traced, ranks, traced),
        fmt::format(
            "{} groups of all {} ranks became groups of all {}, their sizes in bytes unchanged; {} "
            "smaller groups are repeated in each {} ranks",
            grown, traced, ranks, traced_groups - grown, traced)};
    return done;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/place_ranks.h"

#include "core/error.h"

#include <algorithm>
#include <memory>

namespace switchfold::elastic {

namespace {

bool sends_or_receives(const RankGraph& rank) {
    return std::any_of(rank.operations.begin(), rank.operations.end(), [](const Operation& o) {
        return std::holds_alternative<SendOperation>(o.body) ||
               std::holds_alternative<ReceiveOperation>(o.body);
    });
}

}  // namespace

ExecutionGraph placed(const ExecutionGraph& graph, const Members& members) {
    SWITCHFOLD_CHECK(graph.ranks.size() == members.size(), "ranks and members differ");
    ExecutionGraph out = graph;
    out.ranks.assign(members.back() + 1, std::make_shared<const RankGraph>());
    for (std::size_t i = 0; i < members.size(); ++i) {
        SWITCHFOLD_CHECK(!sends_or_receives(*graph.ranks[i]), "a member is a replica of its own");
        out.ranks[members[i]] = graph.ranks[i];
    }
    for (Group& group : out.groups)
        for (std::uint32_t& rank : group.ranks)
            rank = members[rank];
    return out;
}

ExecutionGraph joined(
    const ExecutionGraph& more, const ExecutionGraph& less, const std::vector<bool>& takes_more) {
    SWITCHFOLD_CHECK(
        more.groups == less.groups && more.ranks.size() == less.ranks.size() &&
            takes_more.size() == more.ranks.size(),
        "two shares of a batch make different steps");
    ExecutionGraph out = more;
    const auto names = static_cast<std::uint32_t>(more.names.size());
    out.names.insert(out.names.end(), less.names.begin(), less.names.end());
    for (std::size_t r = 0; r < out.ranks.size(); ++r) {
        if (takes_more[r])
            continue;
        auto rank = std::make_shared<RankGraph>(*less.ranks[r]);
        for (Operation& operation : rank->operations)
            operation.name += names;
        for (Span& span : rank->spans)
            span.name += names;
        out.ranks[r] = std::move(rank);
    }
    const double share =
        static_cast<double>(std::count(takes_more.begin(), takes_more.end(), true)) /
        static_cast<double>(out.ranks.size());
    out.training.samples = share * more.training.samples + (1 - share) * less.training.samples;
    out.training.flops = share * more.training.flops + (1 - share) * less.training.flops;
    return out;
}

}  // namespace switchfold::elastic

// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/place_ranks.h"

#include "core/error.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace switchfold::elastic {

namespace {

/// The rank with its messages' peers on their GPUs.
std::shared_ptr<const RankGraph> with_peers_at(
    const std::shared_ptr<const RankGraph>& rank, const std::vector<std::uint32_t>& gpus) {
    std::shared_ptr<RankGraph> made;
    for (std::size_t i = 0; i < rank->operations.size(); ++i) {
        OperationBody body = rank->operations[i].body;
        if (auto* send = std::get_if<SendOperation>(&body))
            send->peer = gpus[send->peer];
        else if (auto* receive = std::get_if<ReceiveOperation>(&body))
            receive->peer = gpus[receive->peer];
        else
            continue;
        if (!made)
            made = std::make_shared<RankGraph>(*rank);
        made->operations[i].body = std::move(body);
    }
    return made ? made : rank;
}

}  // namespace

ExecutionGraph placed(const ExecutionGraph& graph, const std::vector<std::uint32_t>& gpus) {
    SWITCHFOLD_CHECK(graph.ranks.size() == gpus.size(), "ranks and GPUs differ");
    ExecutionGraph out = graph;
    out.ranks.assign(
        *std::max_element(gpus.begin(), gpus.end()) + 1, std::make_shared<const RankGraph>());
    for (std::size_t i = 0; i < gpus.size(); ++i)
        out.ranks[gpus[i]] = with_peers_at(graph.ranks[i], gpus);
    for (Group& group : out.groups) {
        for (std::uint32_t& rank : group.ranks)
            rank = gpus[rank];
        std::sort(group.ranks.begin(), group.ranks.end());
    }
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

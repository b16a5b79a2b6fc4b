// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/uneven_parts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// One rank's part in an all-to-all.
struct ExchangePart {
    std::uint32_t rank = 0;
    CollectiveOperation* operation = nullptr;
};

bool is_uneven(const std::vector<ExchangePart>& parts) {
    return std::any_of(parts.begin(), parts.end(), [&](const ExchangePart& part) {
        return part.operation->exchange != 0 ||
               part.operation->bytes != parts.front().operation->bytes;
    });
}

/// Takes over what `from` knows of the rank at place `own`: what it sends is surer than what
/// others say that they receive from it.
void take_parts(UnevenExchange& into, const UnevenExchange& from, std::uint32_t own) {
    for (std::uint32_t other = 0; other < into.ranks; ++other) {
        if (from.at(own, other) != UnevenExchange::kUnknown)
            into.at(own, other) = from.at(own, other);
        if (into.at(other, own) == UnevenExchange::kUnknown)
            into.at(other, own) = from.at(other, own);
    }
}

}  // namespace

void repeat_parts(UnevenExchange& exchange, std::uint32_t own) {
    const std::uint32_t n = exchange.ranks;
    std::vector<std::uint64_t> ahead(n, 0);  // bytes to the rank so many places on
    for (std::uint32_t places = 0; places < n; ++places) {
        const std::uint64_t sent = exchange.at(own, (own + places) % n);
        const std::uint64_t received = exchange.at((own + n - places) % n, own);
        if (sent != UnevenExchange::kUnknown)
            ahead[places] = sent;
        else if (received != UnevenExchange::kUnknown)
            ahead[places] = received;
    }
    for (std::uint32_t from = 0; from < n; ++from)
        for (std::uint32_t places = 0; places < n; ++places)
            exchange.at(from, (from + places) % n) = ahead[places];
}

std::uint64_t unite_exchanges(ExecutionGraph& graph, const std::vector<std::uint32_t>& numbers) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<ExchangePart>> calls;
    for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
        const auto rank = std::const_pointer_cast<RankGraph>(graph.ranks[r]);
        for (Operation& operation : rank->operations.pass())
            if (auto* c = std::get_if<CollectiveOperation>(&operation.body);
                c != nullptr && c->kind == CollectiveKind::kAllToAll && !c->holds_blocks &&
                (c->exchange != 0 || c->bytes > Bytes()))
                calls[{c->group, c->sequence}].push_back({numbers[r], c});
    }
    std::uint64_t without_parts = 0;
    std::vector<UnevenExchange> united;
    for (const auto& [key, parts] : calls) {
        if (!is_uneven(parts))
            continue;
        const std::vector<std::uint32_t>& ranks = graph.groups[key.first].ranks;
        UnevenExchange exchange = UnevenExchange::of(static_cast<std::uint32_t>(ranks.size()));
        bool stated = true;
        for (const ExchangePart& part : parts) {
            const auto at = std::lower_bound(ranks.begin(), ranks.end(), part.rank);
            if (at == ranks.end() || *at != part.rank)
                continue;
            const auto own = static_cast<std::uint32_t>(at - ranks.begin());
            if (part.operation->exchange != 0) {
                take_parts(exchange, graph.exchanges[part.operation->exchange - 1], own);
                continue;
            }
            stated = false;
            for (std::uint32_t to = 0; to < exchange.ranks; ++to)
                exchange.at(own, to) = part.operation->bytes.count() / exchange.ranks;
        }
        without_parts += stated ? 0 : 1;
        std::replace(
            exchange.bytes.begin(), exchange.bytes.end(), UnevenExchange::kUnknown,
            std::uint64_t{0});
        united.push_back(std::move(exchange));
        for (const ExchangePart& part : parts)
            part.operation->exchange = static_cast<std::uint32_t>(united.size());
    }
    graph.exchanges = std::move(united);
    return without_parts;
}

}  // namespace switchfold

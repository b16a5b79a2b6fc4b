// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/listed/counterparts.h"

#include "core/error.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

namespace switchfold::listed {

namespace {

/// A collective of a communicator. Calls that NCCL starts together may share a number: `part`
/// counts them.
struct Key {
    std::uint32_t name = 0;
    std::uint64_t number = 0;
    std::uint32_t part = 0;
    auto operator<=>(const Key&) const = default;
};

/// Sends of a tag from one rank to another: from, to, tag.
using Way = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;

class Matcher {
public:
    explicit Matcher(ListedRun& run) : run_(run) {}

    void match() {
        std::stable_sort(
            run_.ranks.begin(), run_.ranks.end(),
            [](const ListedRank& a, const ListedRank& b) { return a.report.rank < b.report.rank; });
        for (const ListedRank& rank : run_.ranks)
            keys_.push_back(keys_of(rank));
        for (std::uint32_t c = 0; c < run_.communicators.size(); ++c)
            set_order(c);
        count_ways();
        for (std::size_t r = 0; r < run_.ranks.size(); ++r)
            keep_matched(r);
    }

private:
    using KeysOfRank = std::vector<std::vector<Key>>;  ///< by communicator, in the file's order

    [[nodiscard]] KeysOfRank keys_of(const ListedRank& rank) const {
        KeysOfRank keys(run_.communicators.size());
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> parts;
        for (const ListedOperation& operation : rank.operations)
            if (std::holds_alternative<CollectiveOperation>(operation.body))
                keys[operation.communicator].push_back(
                    {operation.name, operation.number,
                     parts[{operation.communicator, operation.name, operation.number}]++});
        return keys;
    }

    [[nodiscard]] bool is_member(std::size_t rank, std::uint32_t communicator) const {
        const auto& members = run_.communicators[communicator].ranks;
        return std::binary_search(members.begin(), members.end(), run_.ranks[rank].report.rank);
    }

    void set_order(std::uint32_t communicator) {
        std::vector<Key> common;
        std::size_t first = run_.ranks.size();
        for (std::size_t r = 0; r < run_.ranks.size(); ++r) {
            if (!is_member(r, communicator))
                continue;
            std::vector<Key> own = keys_[r][communicator];
            std::sort(own.begin(), own.end());
            if (first == run_.ranks.size()) {
                first = r;
                common = std::move(own);
                continue;
            }
            std::vector<Key> both;
            std::set_intersection(
                common.begin(), common.end(), own.begin(), own.end(), std::back_inserter(both));
            common = std::move(both);
        }
        auto& order = order_.emplace_back();
        if (first == run_.ranks.size())
            return;
        for (const Key& key : keys_[first][communicator])
            if (std::binary_search(common.begin(), common.end(), key))
                order.emplace(key, order.size());
    }

    [[nodiscard]] static std::optional<Way>
    way_of(const ListedOperation& operation, std::uint32_t rank) {
        if (const auto* send = std::get_if<SendOperation>(&operation.body))
            return Way{rank, send->peer, send->tag};
        if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body))
            return Way{receive->peer, rank, receive->tag};
        return std::nullopt;
    }

    void count_ways() {
        for (const ListedRank& rank : run_.ranks) {
            traced_.push_back(rank.report.rank);
            for (const ListedOperation& operation : rank.operations)
                if (const auto way = way_of(operation, rank.report.rank)) {
                    const bool sends = std::holds_alternative<SendOperation>(operation.body);
                    auto& [sent, received] = ways_[*way];
                    ++(sends ? sent : received);
                }
        }
    }

    /// How many of the rank's first sends or receives of this way have no counterpart.
    [[nodiscard]] std::uint64_t surplus(const Way& way, bool sends) const {
        const auto& [sent, received] = ways_.at(way);
        const std::uint32_t peer = sends ? std::get<1>(way) : std::get<0>(way);
        const std::uint64_t here = sends ? sent : received;
        const std::uint64_t there = sends ? received : sent;
        return std::binary_search(traced_.begin(), traced_.end(), peer)
                   ? here - std::min(here, there)
                   : 0;
    }

    void keep_matched(std::size_t r) {
        ListedRank& rank = run_.ranks[r];
        std::vector<std::size_t> next(run_.communicators.size(), 0);
        std::map<std::pair<Way, bool>, std::uint64_t> seen;
        std::vector<ListedOperation> kept;
        for (ListedOperation& operation : rank.operations) {
            if (auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
                const std::uint32_t communicator = operation.communicator;
                const Key key = keys_[r][communicator][next[communicator]++];
                const auto at = order_[communicator].find(key);
                if (at == order_[communicator].end()) {
                    ++rank.report.dropped["collectives that other ranks' files do not hold"];
                    continue;
                }
                collective->group = communicator;
                collective->sequence = at->second;
            } else if (const auto way = way_of(operation, rank.report.rank)) {
                const bool sends = std::holds_alternative<SendOperation>(operation.body);
                if (seen[{*way, sends}]++ < surplus(*way, sends)) {
                    ++rank.report.dropped["sends and receives that the peers' files do not hold"];
                    continue;
                }
            }
            kept.push_back(std::move(operation));
        }
        if (kept.empty())
            throw ConfigError(
                rank.report.file, "",
                run_.ranks.size() == 1
                    ? "holds no collective, send or receive; expected some"
                    : "holds nothing that the other ranks' files hold too; expected files of the "
                      "same part of the same run");
        rank.operations = std::move(kept);
    }

    ListedRun& run_;
    std::vector<KeysOfRank> keys_;                                 ///< by rank
    std::vector<std::map<Key, std::uint64_t>> order_;              ///< sequences, by communicator
    std::map<Way, std::pair<std::uint64_t, std::uint64_t>> ways_;  ///< sends and receives
    std::vector<std::uint32_t> traced_;                            ///< ranks
};

}  // namespace

}  // namespace switchfold::listed

namespace switchfold {

void match_counterparts(ListedRun& run) {
    listed::Matcher(run).match();
}

}  // namespace switchfold

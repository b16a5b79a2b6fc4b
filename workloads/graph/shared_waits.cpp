// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/shared_waits.h"

#include "workloads/graph/serial_order.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

/// An operation of a program: its stream's name, and its place on the stream.
using StreamPlace = std::pair<std::uint32_t, std::uint32_t>;
using Wait = std::pair<StreamPlace, StreamPlace>;  ///< what waits, and for what

/// A rank by the operations of its GPU streams, which are numbered by their names.
class RankProgram {
public:
    explicit RankProgram(const RankGraph& rank) :
        rank_(&rank), places_(rank.operations.size(), kNone) {
        std::vector<std::uint32_t> by_name;
        for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
            if (rank.streams[s].kind == StreamKind::kGpu)
                by_name.push_back(s);
        std::stable_sort(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
            return rank.streams[a].name < rank.streams[b].name;
        });
        std::vector<std::uint32_t> number(rank.streams.size(), kHost);
        for (std::uint32_t i = 0; i < by_name.size(); ++i)
            number[by_name[i]] = i;
        operations_.resize(by_name.size());
        for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
            const std::uint32_t stream = number[rank.operations[i].stream];
            if (stream == kHost)
                continue;
            places_[i] = {stream, static_cast<std::uint32_t>(operations_[stream].size())};
            operations_[stream].push_back(i);
        }
    }

    /// Operation by operation: name, step and kind, whatever they take and whoever their peers are.
    [[nodiscard]] bool same_as(const RankProgram& other) const {
        return operations_.size() == other.operations_.size() &&
               std::equal(
                   operations_.begin(), operations_.end(), other.operations_.begin(),
                   [&](const auto& own, const auto& others) {
                       return std::equal(
                           own.begin(), own.end(), others.begin(), others.end(),
                           [&](std::uint32_t a, std::uint32_t b) {
                               return kind(a) == other.kind(b);
                           });
                   });
    }

    void add_waits(std::vector<Wait>& to) const {
        for (std::uint32_t i = 0; i < places_.size(); ++i)
            if (places_[i] != kNone)
                for (const std::uint32_t before : rank_->operations[i].dependencies)
                    if (places_[before] != kNone)
                        to.emplace_back(places_[i], places_[before]);
    }

    /// The rank with these waits too; the same if it has them all.
    [[nodiscard]] std::shared_ptr<const RankGraph>
    with(const std::vector<Wait>& waits, std::shared_ptr<const RankGraph> own) const {
        std::shared_ptr<RankGraph> more;
        for (const auto& [waits_at, for_at] : waits) {
            const std::uint32_t after = at(waits_at);
            const std::uint32_t before = at(for_at);
            const auto& known = rank_->operations[after].dependencies;
            if (before >= after || std::find(known.begin(), known.end(), before) != known.end())
                continue;
            if (!more)
                more = std::make_shared<RankGraph>(*rank_);
            more->operations[after].dependencies.push_back(before);
        }
        return more ? std::shared_ptr<const RankGraph>(more) : std::move(own);
    }

private:
    static constexpr std::uint32_t kHost = UINT32_MAX;
    static constexpr StreamPlace kNone{UINT32_MAX, UINT32_MAX};

    [[nodiscard]] std::uint32_t at(const StreamPlace& place) const {
        return operations_[place.first][place.second];
    }
    [[nodiscard]] std::tuple<std::uint32_t, std::uint32_t, std::size_t>
    kind(std::uint32_t i) const {
        const Operation& operation = rank_->operations[i];
        return {operation.name, operation.step, operation.body.index()};
    }

    const RankGraph* rank_;
    std::vector<StreamPlace> places_;                     ///< by operation
    std::vector<std::vector<std::uint32_t>> operations_;  ///< by stream and place on it
};

}  // namespace

std::vector<std::shared_ptr<const RankGraph>> with_shared_waits(const ExecutionGraph& graph) {
    std::vector<RankProgram> programs;
    std::vector<std::shared_ptr<const RankGraph>> different;
    std::map<const RankGraph*, std::size_t> found;
    for (const auto& rank : graph.ranks)
        if (found.try_emplace(rank.get(), different.size()).second) {
            different.push_back(rank);
            programs.emplace_back(*rank);
        }
    std::vector<std::shared_ptr<const RankGraph>> with = different;
    std::vector<bool> done(programs.size(), false);
    for (std::size_t first = 0; first < programs.size(); ++first) {
        if (done[first])
            continue;
        std::vector<std::size_t> same{first};
        for (std::size_t other = first + 1; other < programs.size(); ++other)
            if (!done[other] && programs[other].same_as(programs[first]))
                same.push_back(other);
        std::vector<Wait> waits;
        for (const std::size_t one : same) {
            done[one] = true;
            programs[one].add_waits(waits);
        }
        if (same.size() == 1)
            continue;
        std::sort(waits.begin(), waits.end());
        waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
        for (const std::size_t one : same)
            with[one] = programs[one].with(waits, different[one]);
    }
    std::vector<std::shared_ptr<const RankGraph>> ranks;
    for (const auto& rank : graph.ranks)
        ranks.push_back(with[found.at(rank.get())]);
    return ranks;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/rank_sets.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

namespace switchfold {

RankSets::RankSets(std::size_t ranks) : joined_to_(ranks) {
    std::iota(joined_to_.begin(), joined_to_.end(), 0U);
}

std::uint32_t RankSets::first_of(std::uint32_t rank) {
    while (joined_to_[rank] != rank)
        rank = joined_to_[rank] = joined_to_[joined_to_[rank]];
    return rank;
}

void RankSets::join(std::uint32_t rank, std::uint32_t other) {
    const std::uint32_t first = first_of(rank);
    const std::uint32_t of_other = first_of(other);
    joined_to_[std::max(first, of_other)] = std::min(first, of_other);
}

std::vector<std::vector<std::uint32_t>> RankSets::all() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> sets;
    for (std::uint32_t rank = 0; rank < joined_to_.size(); ++rank)
        sets[first_of(rank)].push_back(rank);
    std::vector<std::vector<std::uint32_t>> all;
    for (auto& entry : sets)
        all.push_back(std::move(entry.second));
    return all;
}

namespace {

bool is_between_host_and_device(const CopyOperation& copy) {
    return copy.kind == CopyKind::kHostToDevice || copy.kind == CopyKind::kDeviceToHost;
}

/// Notes what an operation communicates. \returns whether that is all that ties its rank to others.
class ContactsReader {
public:
    explicit ContactsReader(const ExecutionGraph& graph) : graph_(graph) {}

    bool read(std::uint32_t rank) {
        streams_.clear();
        for (const Operation& operation : graph_.ranks[rank]->operations)
            if (!read(rank, operation))
                return false;
        for (const auto& [group, streams] : streams_) {
            groups_.insert(group);
            found_.streams = std::max(found_.streams, static_cast<std::uint32_t>(streams.size()));
        }
        return true;
    }
    Contacts take() {
        found_.groups.assign(groups_.begin(), groups_.end());
        found_.messages.assign(messages_.begin(), messages_.end());
        return std::move(found_);
    }

private:
    bool read(std::uint32_t rank, const Operation& operation) {
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
            if (collective->exchange != 0 || is_experts(collective->kind) ||
                graph_.groups[collective->group].stands_for != 0)
                return false;
            if (collective->given == Time() || collective->holds_blocks)
                streams_[collective->group].insert(operation.stream);
        } else if (const auto* send = std::get_if<SendOperation>(&operation.body)) {
            messages_.emplace(rank, send->peer);
        } else if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body)) {
            messages_.emplace(receive->peer, rank);
        } else if (const auto* copy = std::get_if<CopyOperation>(&operation.body)) {
            return !is_between_host_and_device(*copy);
        } else if (const auto* delay = std::get_if<HostDelayOperation>(&operation.body)) {
            return !delay->shared;
        }
        return true;
    }

    const ExecutionGraph& graph_;
    std::map<std::uint32_t, std::set<std::uint32_t>> streams_;  ///< of a rank, by group
    std::set<std::uint32_t> groups_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> messages_;
    Contacts found_;
};

}  // namespace

std::optional<Contacts> contacts_of(const ExecutionGraph& graph) {
    if (!graph.represents.empty())
        return std::nullopt;
    ContactsReader reader(graph);
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
        if (!reader.read(rank))
            return std::nullopt;
    return reader.take();
}

bool SameWork::of(const std::vector<std::uint32_t>& set, const std::vector<std::uint32_t>& other) {
    if (set.size() != other.size())
        return false;
    rank_image_.clear();
    group_image_.clear();
    for (std::size_t i = 0; i < set.size(); ++i)
        rank_image_.emplace(set[i], other[i]);
    for (std::size_t i = 0; i < set.size(); ++i)
        if (!of(*graph_.ranks[set[i]], *graph_.ranks[other[i]]))
            return false;
    return true;
}

bool SameWork::of(const RankGraph& rank, const RankGraph& other) {
    if (rank.operations.size() != other.operations.size() || rank.streams != other.streams ||
        rank.spans != other.spans || rank.held != other.held || rank.memory != other.memory)
        return false;
    for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        const Operation& a = rank.operations[i];
        const Operation& b = other.operations[i];
        if (a.stream != b.stream || a.step != b.step || a.phase != b.phase || a.gap != b.gap ||
            a.dependencies != b.dependencies || !of(a.body, b.body))
            return false;
    }
    return true;
}

bool SameWork::of(const OperationBody& body, const OperationBody& other) {
    OperationBody moved = body;
    const auto move_peer = [&](std::uint32_t& peer) {
        const auto image = rank_image_.find(peer);
        if (image != rank_image_.end())
            peer = image->second;
    };
    if (auto* collective = std::get_if<CollectiveOperation>(&moved)) {
        const auto* its = std::get_if<CollectiveOperation>(&other);
        if (its == nullptr || !of_groups(collective->group, its->group))
            return false;
        collective->group = its->group;
    } else if (auto* send = std::get_if<SendOperation>(&moved)) {
        move_peer(send->peer);
    } else if (auto* receive = std::get_if<ReceiveOperation>(&moved)) {
        move_peer(receive->peer);
    }
    return moved == other;
}

bool SameWork::of_groups(std::uint32_t group, std::uint32_t other) {
    const auto [at, fresh] = group_image_.emplace(group, other);
    if (!fresh)
        return at->second == other;
    const bool taken =
        std::ranges::count(group_image_, other, [](const auto& image) { return image.second; }) > 1;
    if (taken)
        return false;
    const std::vector<std::uint32_t>& ranks = graph_.groups[group].ranks;
    const std::vector<std::uint32_t>& others = graph_.groups[other].ranks;
    return std::equal(
        ranks.begin(), ranks.end(), others.begin(), others.end(),
        [&](std::uint32_t rank, std::uint32_t image) {
            const auto found = rank_image_.find(rank);
            return found != rank_image_.end() && found->second == image;
        });
}

}  // namespace switchfold

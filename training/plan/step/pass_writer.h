// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/launch_times.h"
#include "training/plan/step/rank_map.h"
#include "training/plan/step/work_item.h"
#include "workloads/graph/execution_graph.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// The communicators of a run: one per set of ranks and purpose.
class Communicators {
public:
    std::uint32_t find(const std::string& name, const std::vector<std::uint32_t>& ranks);
    [[nodiscard]] std::vector<Group> take() { return std::move(groups_); }

private:
    std::map<std::pair<std::string, std::vector<std::uint32_t>>, std::uint32_t> index_;
    std::vector<Group> groups_;
};

/// Ranks that share reductions and gathers, with the name of their stream.
struct Team {
    std::string name;
    std::vector<std::uint32_t> ranks;  ///< ascending
};

/// Ranks that reduce a rank's gradients; behind them those of its experts, which hold the same
/// ones.
[[nodiscard]] std::array<Team, 2> gradient_teams(const RankMap& map, std::uint32_t rank);

/// Writes one rank's operations. Two lanes compute concurrently where a forward runs beside a
/// backward; each has a stream for its kernels and one for the collectives that they wait for. If
/// launches take time, a host thread issues all calls in the order in which they are written.
class PassWriter {
public:
    using Index = std::uint32_t;

    PassWriter(
        const RankMap& map, std::uint32_t rank, const LaunchTimes& launches, Communicators& groups,
        NameTable& names);

    /// Makes the lane's next computation wait for this operation as well.
    void wait_for(std::size_t lane, Index operation) { lanes_[lane].waits.push_back(operation); }
    /// The host issues no further call until this operation has ended.
    void host_waits_for(Index operation) {
        if (launches_.any())
            host_waits_.push_back(operation);
    }
    void
    kernel(std::size_t lane, std::string_view name, Phase phase, const KernelOperation& kernel);
    void wait_for_collective(std::size_t lane, const CollectiveItem& item, Phase phase);
    /// A layer's collective behind these operations, whatever the lanes do; nothing if the rank
    /// shares the layer with no other.
    std::optional<Index>
    collective_beside(const CollectiveItem& item, Phase phase, std::vector<Index> dependencies);
    void join(std::size_t lane);
    /// A kernel that represents a whole pass; it takes a nanosecond until its time is known. That
    /// time includes its calls.
    Index one_kernel(std::size_t lane, std::string_view name, Phase phase);
    /// Writes a kernel, a call or wait of the host, a collective among the ranks of a layer, or a
    /// join; \returns false for other items.
    bool layer_work(std::size_t lane, const WorkItem& item, Phase phase);
    /// One team's part of a unit's weights.
    struct Gathered {
        Bytes bytes;
        const Team& team;
    };
    void
    gather(std::size_t lane, const std::vector<Gathered>& parts, Datatype datatype, Phase phase);
    /// A collective on the team's stream, unless the team is this rank alone; no lane waits for it.
    std::optional<Index> collective(
        std::string_view name, CollectiveKind kind, Bytes bytes, Datatype datatype,
        const Team& team, Phase phase, std::vector<Index> dependencies);
    /// A message on a stream of its own, with the given name.
    Index message(
        const std::string& stream, std::string_view name, bool sends, std::uint32_t peer,
        Bytes bytes, std::uint64_t tag, Phase phase, std::vector<Index> dependencies);

    /// A kernel beside the lanes, on a stream of its own with the given name.
    Index kernel_beside(
        const std::string& stream, std::string_view name, Phase phase,
        const KernelOperation& kernel, std::vector<Index> dependencies);
    /// A copy to or from the host, on one stream per direction.
    Index host_copy(
        std::string_view name, CopyKind kind, Bytes bytes, Phase phase,
        std::vector<Index> dependencies);
    /// Work of a host thread.
    Index
    host_work(std::string_view name, Time duration, Phase phase, std::vector<Index> dependencies);

    /// What the lane's next operation will wait for: its last kernel and its pending waits.
    [[nodiscard]] std::vector<Index> ends(std::size_t lane) const;
    [[nodiscard]] std::optional<Index> last_kernel(std::size_t lane) const {
        return lanes_[lane].last;
    }
    /// The last operation that the lane waits for: the sum of the last kernel's results, or that
    /// kernel.
    [[nodiscard]] std::optional<Index> last(std::size_t lane) const;
    /// Index of the next operation written, excluding its call.
    [[nodiscard]] Index next() const { return size() + (launches_.any() ? 1 : 0); }
    /// Index of the next call, or of the next operation if that has none of its own.
    [[nodiscard]] Index next_call() const { return size(); }
    /// Index of the last operation written.
    [[nodiscard]] Index latest() const { return size() - 1; }
    void span(std::string_view name, Index first, Index last, std::uint32_t round, Phase phase);
    /// Changes memory by `bytes` (negative: frees) at the operation's begin or end.
    void memory(MemoryClass what, std::int64_t bytes, Index operation, bool at_end);
    /// Sets the memory held throughout.
    void hold(const MemoryBytes& bytes) { rank_graph_.held = bytes; }
    [[nodiscard]] RankGraph take() { return std::move(rank_graph_); }

private:
    struct Lane {
        std::vector<Index> waits;
        std::vector<Index> beside;
        std::optional<Index> last;  ///< last kernel
        std::vector<Index> unit;    ///< the gather of the unit after the next waits for these
    };

    const Team& team_of(Sharing sharing, std::size_t lane);
    [[nodiscard]] Index size() const { return static_cast<Index>(rank_graph_.operations.size()); }
    std::uint32_t stream(const std::string& name, StreamKind kind = StreamKind::kGpu);
    std::uint32_t compute(std::size_t lane);
    /// Adds an operation, preceded by its call.
    Index
    add(std::string_view name, std::uint32_t stream, Phase phase, std::vector<Index> dependencies,
        OperationBody body);
    Index call(const OperationBody& body, Phase phase);
    void short_calls(std::uint32_t count, Phase phase);
    Index write(
        std::string_view name, std::uint32_t stream, Phase phase, std::vector<Index> dependencies,
        OperationBody body);
    std::optional<CollectiveOperation>
    part(CollectiveKind kind, Bytes bytes, Datatype datatype, const Team& team);

    const RankMap& map_;
    std::uint32_t rank_;
    LaunchTimes launches_;
    Communicators& groups_;
    NameTable& names_;
    RankGraph rank_graph_;
    std::array<Lane, 2> lanes_;
    std::vector<Index> host_waits_;
    std::map<std::string, std::uint32_t> streams_;
    std::map<std::pair<Sharing, std::size_t>, Team> teams_;  ///< by kind of sharing and lane
    std::map<std::uint32_t, std::uint64_t> sequence_;        ///< by group
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/collective_sizes.h"

#include "sim/kinds/trace/size_search.h"
#include "sim/machine/beside.h"
#include "sim/pool/value_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

/// Of one rank and step: the same collective of each step has the same size.
struct Key {
    CollectiveKind kind;
    std::uint32_t group;
    std::uint32_t blocks;
    std::uint32_t ordinal;  ///< among those of its step, kind and group
    auto operator<=>(const Key&) const = default;
};

/// Nothing tells how large it is, or takes its place. One that exchanges parts may send nothing.
bool is_unknown(const CollectiveOperation& collective) {
    return collective.bytes.count() == 0 && collective.exchange == 0 && collective.given == Time();
}

/// Calls visit(key, collective) for each collective of unknown size.
template <class Rank, class Visit>
void for_each_unknown(Rank& rank, Visit&& visit) {
    std::map<std::tuple<std::uint32_t, CollectiveKind, std::uint32_t>, std::uint32_t> ordinals;
    for (auto& operation : rank.operations)
        if (auto* c = std::get_if<CollectiveOperation>(&operation.body);
            c != nullptr && is_unknown(*c))
            visit(
                Key{c->kind, c->group, c->thread_blocks,
                    ordinals[{operation.step, c->kind, c->group}]++},
                *c);
}

/// The shortest occurrence of each.
std::map<Key, CollectiveOperation> shortest_of(const ExecutionGraph& graph) {
    std::map<Key, CollectiveOperation> shortest;
    const RankGraph* last = nullptr;  // ranks share their graph
    for (const auto& rank : graph.ranks) {
        if (rank.get() == std::exchange(last, rank.get()))
            continue;
        for_each_unknown(*rank, [&](const Key& key, const CollectiveOperation& c) {
            const auto [at, fresh] = shortest.try_emplace(key, c);
            if (!fresh && c.measured < at->second.measured)
                at->second = c;
        });
    }
    return shortest;
}

/// What every rank's part is a multiple of.
Bytes grain_of(std::size_t ranks) {
    return Bytes(16 * ranks);
}

/// Those of which one size takes one time.
struct Shape {
    CollectiveKind kind;
    std::vector<std::uint32_t> ranks;
    Datatype datatype;
    std::uint32_t blocks;
    std::uint32_t registers_per_thread;
    Bytes shared_memory;
    std::string algorithm;
    auto operator<=>(const Shape&) const = default;
};

/// The collectives of one shape, and what their searches find.
struct Search {
    CollectiveOperation any;
    std::vector<Time> times;  ///< ascending
    std::vector<SizeSearch::Found> found;
};
using Searches = std::map<Shape, Search>;

Shape shape_of(const CollectiveOperation& collective, const ExecutionGraph& graph) {
    return {
        collective.kind,
        graph.groups[collective.group].ranks,
        collective.datatype,
        collective.thread_blocks,
        collective.registers_per_thread,
        collective.shared_memory,
        std::string(collective.algorithm.text())};
}

/// Searches of a shape's sizes by simulations of it alone.
Job search_job(
    const SystemParams& system, const Shape& shape, const Search& search,
    const SimulateOptions& options) {
    double all = 1;
    for (const Time time : search.times)
        all += static_cast<double>(time.count());
    return {
        fmt::format(
            "sizes: the trace's {} over {} ranks, simulated alone to tell unknown sizes by {} "
            "time{}, the shortest {:.0f} us",
            to_string(shape.kind), shape.ranks.size(), search.times.size(),
            search.times.size() == 1 ? "" : "s", to_microseconds(search.times.front())),
        [&system, &shape, &search, options](const JobProgress& progress) {
            std::uint64_t events = 0;
            std::size_t done = 0;
            SizeSearch sizes(grain_of(shape.ranks.size()), [&](Bytes bytes) {
                CollectiveOperation tried = search.any;
                tried.bytes = bytes;
                SimulateOptions told = options;
                // How many trials there will be is not known.
                std::uint64_t now = 0;
                told.progress = [&](double /*share*/, std::uint64_t count) {
                    now = count;
                    progress(
                        static_cast<double>(done) / static_cast<double>(search.times.size()),
                        events + now);
                };
                const Time time = replayed_time(system, tried, shape.ranks, told);
                events += now;
                return time;
            });
            std::vector<SizeSearch::Found> found;
            for (; done < search.times.size(); ++done)
                found.push_back(sizes.find(search.times[done]));
            return value_bytes(found);
        },
        all};
}

Searches search_sizes(
    const SystemParams& system, const ExecutionGraph& graph,
    const std::map<Key, CollectiveOperation>& shortest, const SimulateOptions& options,
    const RunJobs& run) {
    Searches searches;
    for (const auto& [key, collective] : shortest)
        if (graph.groups[key.group].ranks.size() > 1) {
            Search& search = searches[shape_of(collective, graph)];
            search.any = collective;
            search.times.push_back(collective.measured);
        }
    std::vector<Job> jobs;
    for (auto& [shape, search] : searches) {
        std::sort(search.times.begin(), search.times.end());
        search.times.erase(
            std::unique(search.times.begin(), search.times.end()), search.times.end());
        jobs.push_back(search_job(system, shape, search, options));
    }
    if (jobs.empty())
        return searches;
    auto found = values_of<std::vector<SizeSearch::Found>>(jobs, run);
    std::size_t job = 0;
    for (auto& [shape, search] : searches)
        search.found = std::move(found[job++]);
    return searches;
}

/// What a collective whose shortest occurrence is `shortest` becomes.
class Estimates {
public:
    Estimates(const ExecutionGraph& graph, const Searches& searches) :
        graph_(graph), searches_(searches) {}

    void apply(const CollectiveOperation& shortest, CollectiveOperation& collective) {
        const std::size_t ranks = graph_.groups[shortest.group].ranks.size();
        collective.size_source = SizeSource::kEstimatedFromDuration;
        if (ranks < 2) {
            collective.bytes = grain_of(1);
            ++counts_.estimated;
            return;
        }
        const Search& search = searches_.at(shape_of(shortest, graph_));
        const auto at =
            std::lower_bound(search.times.begin(), search.times.end(), shortest.measured);
        const SizeSearch::Found& found =
            search.found[static_cast<std::size_t>(at - search.times.begin())];
        // A time of zero is none.
        if (shortest.measured == Time() || found.taken) {
            collective.bytes = found.size;
            ++counts_.estimated;
            return;
        }
        collective.given = shortest.measured;
        collective.holds_blocks = true;
        ++counts_.given;
    }
    [[nodiscard]] UnknownSizes counts() const { return counts_; }

private:
    const ExecutionGraph& graph_;
    const Searches& searches_;
    UnknownSizes counts_;
};

}  // namespace

UnknownSizes estimate_collective_sizes(
    const SystemParams& system, ExecutionGraph& graph, const SimulateOptions& options,
    const RunJobs& run) {
    const std::map<Key, CollectiveOperation> shortest = shortest_of(graph);
    if (shortest.empty())
        return {};
    const Searches searches = search_sizes(system, graph, shortest, options, run);
    Estimates estimates(graph, searches);
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> replaced;  // ranks share graphs
    for (auto& rank : graph.ranks) {
        auto& fresh = replaced[rank.get()];
        if (!fresh) {
            auto copy = std::make_shared<RankGraph>(*rank);
            for_each_unknown(*copy, [&](const Key& key, CollectiveOperation& collective) {
                estimates.apply(shortest.at(key), collective);
            });
            fresh = std::move(copy);
        }
        rank = fresh;
    }
    return estimates.counts();
}

}  // namespace switchfold

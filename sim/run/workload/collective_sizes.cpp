// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/collective_sizes.h"

#include "models/collectives/choice/exchange.h"
#include "sim/run/machine/beside.h"
#include "sim/run/machine/machine.h"
#include "sim/run/pool/value_jobs.h"
#include "sim/run/workload/size_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
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

/// Calls visit(key, collective) for each collective of unknown size.
template <class Rank, class Visit>
void for_each_unknown(Rank& rank, Visit&& visit) {
    std::map<std::tuple<std::uint32_t, CollectiveKind, std::uint32_t>, std::uint32_t> ordinals;
    for (auto& operation : rank.operations)
        if (auto* c = std::get_if<CollectiveOperation>(&operation.body);
            c != nullptr && c->bytes.count() == 0)
            visit(
                Key{c->kind,
                    c->group,
                    c->thread_blocks,
                    ordinals[{operation.step, c->kind, c->group}]++},
                *c);
}

/// The shortest occurrence of each.
std::map<Key, CollectiveOperation> shortest_of(const ExecutionGraph& graph) {
    std::map<Key, CollectiveOperation> shortest;
    for (const auto& rank : graph.ranks)
        for_each_unknown(*rank, [&](const Key& key, const CollectiveOperation& c) {
            const auto [at, fresh] = shortest.try_emplace(key, c);
            if (!fresh && c.measured < at->second.measured)
                at->second = c;
        });
    return shortest;
}

/// What every rank's part is a multiple of.
Bytes grain_of(std::size_t ranks) {
    return Bytes(16 * ranks);
}

/// By NCCL's cost model of all-reduces.
class CostModel {
public:
    CostModel(const SystemParams& system, const ExecutionGraph& graph) :
        machine_(simulation_, system, options(graph)) {}

    [[nodiscard]] Bytes
    size(const CollectiveOperation& collective, const std::vector<std::uint32_t>& ranks) {
        // A single pass moves half of what an all-reduce of the same size moves.
        const std::uint64_t passes = collective.kind == CollectiveKind::kAllReduce ? 1 : 2;
        std::uint64_t low = 16;
        std::uint64_t high = 1ULL << 36U;
        while (low + 16 < high) {
            const std::uint64_t middle = (low + high) / 2;
            if (machine_.collectives().choose(ranks, Bytes(middle)).estimate < collective.measured)
                low = middle;
            else
                high = middle;
        }
        const std::uint64_t grain = grain_of(ranks.size()).count();
        return Bytes(low * passes / grain * grain + grain);
    }

private:
    static MachineOptions options(const ExecutionGraph& graph) {
        MachineOptions options;
        options.ranks = static_cast<std::uint32_t>(graph.ranks.size());
        options.groups = graph.groups;
        options.policies = ring_policy();
        return options;
    }
    Simulation simulation_;
    Machine machine_;
};

/// A search of an exchange's size by simulations of it alone.
Job size_of_exchange(
    const SystemParams& system,
    const CollectiveOperation& exchange,
    std::uint32_t ranks,
    const SimulateOptions& options) {
    return {
        fmt::format(
            "sizes: the trace's {} of {:.0f} us over {} ranks, simulated alone to tell its unknown "
            "size",
            to_string(exchange.kind),
            to_microseconds(exchange.measured),
            ranks),
        [&system, exchange, ranks, options](const JobProgress& progress) {
            std::uint64_t events = 0;
            const Bytes size =
                size_that_takes(exchange.measured, grain_of(ranks), [&](Bytes bytes) {
                    CollectiveOperation tried = exchange;
                    tried.bytes = bytes;
                    SimulateOptions told = options;
                    // How many trials there will be is not known.
                    std::uint64_t now = 0;
                    told.progress = [&](double /*share*/, std::uint64_t count) {
                        now = count;
                        progress(0, events + now);
                    };
                    const Time time = traced_time(system, tried, ranks, told);
                    events += now;
                    return time;
                });
            return value_bytes(size);
        },
        std::max(1.0, static_cast<double>(exchange.measured.count()))};
}

std::map<Key, Bytes> sizes_of(
    const SystemParams& system,
    const ExecutionGraph& graph,
    const SimulateOptions& options,
    const RunJobs& run) {
    std::map<Key, Bytes> sizes;
    std::vector<Key> exchanges;
    std::vector<Job> jobs;
    std::unique_ptr<CostModel> model;  // a process holds one simulation at a time
    for (const auto& [key, collective] : shortest_of(graph)) {
        const std::vector<std::uint32_t>& ranks = graph.groups[key.group].ranks;
        if (ranks.size() < 2) {
            sizes[key] = grain_of(1);
        } else if (is_exchange(key.kind)) {
            exchanges.push_back(key);
            jobs.push_back(size_of_exchange(
                system, collective, static_cast<std::uint32_t>(ranks.size()), options));
        } else {
            if (!model)
                model = std::make_unique<CostModel>(system, graph);
            sizes[key] = model->size(collective, ranks);
        }
    }
    model.reset();
    if (jobs.empty())
        return sizes;
    const std::vector<Bytes> found = values_of<Bytes>(jobs, run);
    for (std::size_t i = 0; i < exchanges.size(); ++i)
        sizes[exchanges[i]] = found[i];
    return sizes;
}

}  // namespace

std::uint32_t estimate_collective_sizes(
    const SystemParams& system,
    ExecutionGraph& graph,
    const SimulateOptions& options,
    const RunJobs& run) {
    const std::map<Key, Bytes> sizes = sizes_of(system, graph, options, run);
    if (sizes.empty())
        return 0;
    std::uint32_t changed = 0;
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> replaced;  // ranks share graphs
    for (auto& rank : graph.ranks) {
        auto& fresh = replaced[rank.get()];
        if (!fresh) {
            auto copy = std::make_shared<RankGraph>(*rank);
            for_each_unknown(*copy, [&](const Key& key, CollectiveOperation& collective) {
                collective.bytes = sizes.at(key);
                ++changed;
            });
            fresh = std::move(copy);
        }
        rank = fresh;
    }
    return changed;
}

}  // namespace switchfold

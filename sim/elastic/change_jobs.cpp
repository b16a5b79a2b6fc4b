// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/change_jobs.h"

#include "core/error.h"
#include "models/collectives/choice/named_policies.h"
#include "workloads/graph/without_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace switchfold {

namespace {

using elastic::Members;

/// Operations of the transfer precede all others of a rank and have a name of their own.
bool is_transfer(const ExecutionGraph& graph, const Operation& operation) {
    return graph.names[operation.name] == elastic::kStateTransfer;
}

}  // namespace

ChangeJobs::ChangeJobs(
    std::string name, const SystemParams& system, const StepGraphs& graphs,
    const CollectivePolicies& policies, const SimulateOptions& options, bool overlap,
    const RunParams& run) :
    name_(std::move(name)),
    system_(system),
    graphs_(graphs),
    policies_(policies),
    library_(policies),
    options_(options),
    overlap_(overlap),
    run_(run) {
    if (!library_.broadcast)
        library_.broadcast = ring_policy();
    if (run_.broadcast == elastic::Transfer::kInSwitch) {
        policies_.broadcast = multicast_copy_policy();
    } else if (!policies_.broadcast) {
        policies_.broadcast = ring_policy();
    }
}

void ChangeJobs::want(Key key, ExecutionGraph graph) {
    places_.emplace(key, wanted_.size());
    wanted_.push_back({std::move(key), std::move(graph), {}});
}

void ChangeJobs::want_step(const Members& members, PlanProblems& problems) {
    Key key{Kind::kStep, members, {}, {}};
    if (has(key))
        return;
    ExecutionGraph graph = step_graph(members, problems);
    if (problems.empty())
        want(std::move(key), std::move(graph));
}

ExecutionGraph ChangeJobs::step_graph(const Members& members, PlanProblems& problems) const {
    ExecutionGraph graph = graphs_.step(members, problems);
    return overlap_ || !problems.empty() ? graph : without_overlap(graph);
}

void ChangeJobs::want_checkpoint(const Members& members, PlanProblems& problems) {
    Key key{Kind::kCheckpoint, members, {}, {}};
    if (has(key))
        return;
    ExecutionGraph graph = step_graph(members, problems);
    if (!problems.empty())
        return;
    elastic::add_copies_to_host(graph, graphs_.gpus().all(members), parts_of(members));
    want(std::move(key), std::move(graph));
}

void ChangeJobs::want_joining(
    const Members& old_members, const Members& joiners, PlanProblems& problems) {
    Key key{Kind::kJoining, old_members, joiners, {}};
    if (has(key))
        return;
    ExecutionGraph graph = graphs_.joining_step(old_members, joiners, problems);
    if (problems.empty())
        want(std::move(key), std::move(graph));
}

std::vector<Bytes> ChangeJobs::parts_of(const Members& members) const {
    return elastic::parts_written(
        run_.costs->writers, graphs_.state(),
        static_cast<std::uint32_t>(members.size()) * graphs_.gpus().each());
}

void ChangeJobs::want_transfer(const Members& sources, const Members& to, const Members& holders) {
    Key key{Kind::kTransfer, sources, to, holders};
    if (has(key))
        return;
    ExecutionGraph graph = elastic::moves_alone();
    graphs_.moves().add_each(graph, sources, to, run_.broadcast);
    if (graphs_.divides()) {
        Members all;
        std::merge(sources.begin(), sources.end(), to.begin(), to.end(), std::back_inserter(all));
        graphs_.moves().add_divided(graph, holders, all);
    }
    want(std::move(key), std::move(graph));
}

void ChangeJobs::want_weights(const Members& members) {
    Key key{Kind::kWeights, members, {}, {}};
    if (has(key))
        return;
    ExecutionGraph graph = elastic::moves_alone();
    graphs_.moves().add_weights(graph, members);
    want(std::move(key), std::move(graph));
}

void ChangeJobs::want_divided(const Members& before, const Members& after) {
    Key key{Kind::kDivided, before, after, {}};
    if (has(key))
        return;
    ExecutionGraph graph = elastic::moves_alone();
    graphs_.moves().add_divided(graph, before, after);
    want(std::move(key), std::move(graph));
}

ChangeJobs::Times ChangeJobs::measured(const Wanted& wanted, const Outcome& outcome) const {
    const ExecutionGraph& graph = wanted.graph;
    const Members first = graphs_.gpus().all(std::get<1>(wanted.key));
    Times times;
    times.sent.resize(first.size());
    for (const std::uint32_t rank : first)
        if (rank < graph.ranks.size())
            for (const OperationTimes& operation : outcome.times[rank])
                times.end = std::max(times.end, operation.end);
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank) {
        const RankGraph& of_rank = *graph.ranks[rank];
        const auto place = std::lower_bound(first.begin(), first.end(), rank);
        const bool is_first = place != first.end() && *place == rank;
        bool sends = false;
        for (std::size_t i = 0; i < of_rank.operations.size(); ++i) {
            const Operation& operation = of_rank.operations[i];
            if (is_transfer(graph, operation)) {
                times.transfer = std::max(times.transfer, outcome.times[rank][i].end);
                if (is_first) {
                    Time& sent = times.sent[static_cast<std::size_t>(place - first.begin())];
                    sent = std::max(sent, outcome.times[rank][i].end);
                }
                sends = true;
            } else if (sends && is_first && operation.phase != Phase::kOptimizer) {
                times.ready = std::max(times.ready, outcome.times[rank][i].end);
            }
        }
    }
    return times;
}

void ChangeJobs::add_to(std::vector<Job>& jobs) const {
    for (const Wanted& wanted : wanted_)
        jobs.push_back(
            {fmt::format("{}, changes", name_), [this, &wanted](const JobProgress& progress) {
                 SimulateOptions options = options_;
                 options.progress = progress;
                 const bool of_library = std::get<0>(wanted.key) == Kind::kWeights;
                 // Members that hold what they need move nothing.
                 const Outcome outcome =
                     wanted.graph.ranks.empty()
                         ? Outcome()
                         : simulate(
                               system_, wanted.graph, of_library ? library_ : policies_, options);
                 const Times times = measured(wanted, outcome);
                 std::vector<std::uint64_t> counts{
                     times.end.count(), times.ready.count(), times.transfer.count()};
                 for (const Time sent : times.sent)
                     counts.push_back(sent.count());
                 std::string bytes(counts.size() * sizeof counts[0], '\0');
                 std::memcpy(bytes.data(), counts.data(), bytes.size());
                 return bytes;
             }});
}

void ChangeJobs::keep(std::size_t job, const std::string& bytes) {
    constexpr std::size_t kFixed = 3;
    Wanted& wanted = wanted_[job];
    std::vector<std::uint64_t> counts(
        kFixed + std::get<1>(wanted.key).size() * graphs_.gpus().each());
    SWITCHFOLD_CHECK(
        bytes.size() == counts.size() * sizeof counts[0], "a job of changes returns other bytes");
    std::memcpy(counts.data(), bytes.data(), bytes.size());
    wanted.times = {Time(counts[0]), Time(counts[1]), Time(counts[2]), {}};
    for (std::size_t i = kFixed; i < counts.size(); ++i)
        wanted.times.sent.emplace_back(counts[i]);
}

const ChangeJobs::Times& ChangeJobs::times(const Key& key) const {
    return wanted_[places_.at(key)].times;
}

Time ChangeJobs::step(const Members& members) const {
    return times({Kind::kStep, members, {}, {}}).end;
}

elastic::JoiningStep ChangeJobs::joining(const Members& old_members, const Members& joiners) const {
    const Times& beside = times({Kind::kJoining, old_members, joiners, {}});
    elastic::JoiningStep joining;
    joining.step = beside.end;
    joining.alone = step(old_members);
    joining.window = beside.ready;
    joining.transfer = beside.transfer;
    if (beside.transfer > beside.ready)
        joining.wait = beside.transfer - beside.ready;
    return joining;
}

elastic::CheckpointStep ChangeJobs::checkpoint(const Members& members) const {
    const Times& beside = times({Kind::kCheckpoint, members, {}, {}});
    const elastic::HostCosts& costs = *run_.costs;
    const std::vector<Bytes> parts = parts_of(members);
    std::vector<elastic::StorageClient> clients;
    for (std::size_t i = 0; i < parts.size(); ++i)
        clients.push_back({beside.sent[i], parts[i]});
    elastic::CheckpointStep step;
    step.step = beside.end;
    step.window = beside.ready;
    step.copied = beside.transfer;
    if (beside.transfer > beside.ready)
        step.wait = beside.transfer - beside.ready;
    step.written = elastic::last_of(elastic::serve({costs.storage_write, costs.client}, clients));
    return step;
}

Time ChangeJobs::transfer(const Members& sources, const Members& to, const Members& holders) const {
    return times({Kind::kTransfer, sources, to, holders}).transfer;
}

Time ChangeJobs::weights(const Members& members) const {
    return times({Kind::kWeights, members, {}, {}}).transfer;
}

Time ChangeJobs::divided(const Members& before, const Members& after) const {
    return times({Kind::kDivided, before, after, {}}).transfer;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "training/plan/average/averaged_step.h"

#include "training/plan/step/rank_map.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/graph/join.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// Cost of a method beside the exchange itself: passes over all weights that kernels read and
/// write, and copies of them that stay in memory.
struct Combining {
    AverageMethod method;
    double before_read;  ///< before the exchange, when the exchanged values are computed from the
                         ///< weights
    double before_written;
    double read;  ///< after the exchange
    double written;
    double held;
};
constexpr std::array kCombining{
    Combining{AverageMethod::kPeriodic, 0, 0, 1, 1, 0},
    Combining{AverageMethod::kOneShot, 0, 0, 1, 1, 0},
    // Before: e = a (w - z). After: w -= e, z += sum of all e.
    Combining{AverageMethod::kElastic, 2, 1, 4, 2, 2},
    // The centre is on the host: w -= e.
    Combining{AverageMethod::kElasticAsync, 0, 0, 2, 1, 1},
    // As elastic, plus z + mu (z - previous z).
    Combining{AverageMethod::kModelAveraging, 2, 1, 5, 3, 3},
    // D = eta D + zeta (mean - W); W += D.
    Combining{AverageMethod::kBlockMomentum, 0, 0, 3, 2, 2}};

const Combining& combining_of(AverageMethod method) {
    return *std::find_if(kCombining.begin(), kCombining.end(), [&](const Combining& c) {
        return c.method == method;
    });
}

/// Adds the exchange of a period to the steps of a replica.
class Exchange {
public:
    Exchange(
        Bytes bucket, const AveragePlan& average, RankGraph& rank, const HeldWeights& held,
        std::uint32_t group, std::uint32_t first_name, NameTable& names) :
        bucket_(bucket),
        times_(*held.times),
        average_(average),
        combining_(combining_of(average.method)),
        rank_(rank),
        group_(group),
        first_name_(first_name),
        names_(names),
        parameters_(held.parameters) {
        std::vector<bool> seen(rank.streams.size(), false);
        for (auto i = static_cast<std::uint32_t>(rank.operations.size()); i-- > 0;) {
            const std::uint32_t stream = rank.operations[i].stream;
            if (!seen[stream])
                ends_.push_back(i);
            seen[stream] = true;
        }
        std::reverse(ends_.begin(), ends_.end());
    }

    void write() {
        if (average_.overlap)
            last_ = kernel("weights of the period before", 1, 1, {});
        else
            last_ = combining_.before_read > 0
                        ? std::vector{kernel(
                              "differences from the centre", combining_.before_read,
                              combining_.before_written, ends_)}
                        : ends_;
        if (average_.method == AverageMethod::kElasticAsync)
            through_host();
        else
            all_reduce();
        if (average_.overlap)
            last_.insert(last_.end(), ends_.begin(), ends_.end());
        kernel("average weights", combining_.read, combining_.written, last_);
        rank_.held[MemoryClass::kMoments] +=
            (combining_.held + (average_.overlap ? 1 : 0)) * kSingleBytes * parameters_;
    }

private:
    std::uint32_t stream(std::string_view name, StreamKind kind) {
        const auto at =
            std::find_if(rank_.streams.begin(), rank_.streams.end(), [&](const Stream& s) {
                return s.name == name;
            });
        if (at != rank_.streams.end())
            return static_cast<std::uint32_t>(at - rank_.streams.begin());
        rank_.streams.push_back({kind, std::string(name), 0});
        return static_cast<std::uint32_t>(rank_.streams.size() - 1);
    }
    std::vector<std::uint32_t>
    add(std::string_view name, std::uint32_t on, const std::vector<std::uint32_t>& after,
        OperationBody body) {
        Operation operation;
        operation.name = first_name_ + names_.intern(name);
        operation.stream = on;
        operation.step = average_.every - 1;
        operation.phase = Phase::kOptimizer;
        operation.dependencies = after;
        operation.body = std::move(body);
        rank_.operations.push_back(std::move(operation));
        return {static_cast<std::uint32_t>(rank_.operations.size() - 1)};
    }
    std::uint32_t weights() { return stream("weights", StreamKind::kGpu); }
    std::vector<std::uint32_t>
    kernel(std::string_view name, double read, double written, std::vector<std::uint32_t> after) {
        MemoryKernel kernel;
        kernel.read = read * kSingleBytes * parameters_;
        kernel.written = written * kSingleBytes * parameters_;
        kernel.flops = read * parameters_;
        return add(name, weights(), after, times_.estimate(kernel).kernel);
    }
    void all_reduce() {
        const double bucket = static_cast<double>(bucket_.count());
        double left = parameters_ * kSingleBytes;
        for (std::uint64_t sequence = 0; left > 0; ++sequence) {
            CollectiveOperation collective;
            collective.bytes =
                Bytes(static_cast<std::uint64_t>(std::min(left, bucket) / kSingleBytes + 0.5) * 4);
            collective.group = group_;
            collective.sequence = sequence;
            last_ = add("exchange weights", weights(), last_, collective);
            left -= bucket;
        }
    }
    /// Uploads the worker's weights, updates the centre on the host, and downloads the worker's
    /// correction.
    void through_host() {
        const Bytes bytes(static_cast<std::uint64_t>(parameters_ * kSingleBytes));
        last_ =
            add("weights to the host", weights(), last_,
                CopyOperation{CopyKind::kDeviceToHost, bytes, Time()});
        constexpr std::uint64_t kReadAndWritten = 4;  // weights and centre; difference and centre
        // One thread has the centre, and moves it for one replica after the other.
        constexpr bool kShared = true;
        last_ =
            add("move the centre", stream("host", StreamKind::kHost), last_,
                HostDelayOperation{
                    serialization_time(bytes * kReadAndWritten, average_.host_add), kShared});
        last_ =
            add("difference from the host", weights(), last_,
                CopyOperation{CopyKind::kHostToDevice, bytes, Time()});
    }

    Bytes bucket_;
    const KernelTimes& times_;
    const AveragePlan& average_;
    const Combining& combining_;
    RankGraph& rank_;
    std::uint32_t group_;
    std::uint32_t first_name_;  ///< index of names_' first name in the graph's
    NameTable& names_;
    double parameters_;
    std::vector<std::uint32_t> ends_;  ///< last operation of each stream, at the end of the steps
    std::vector<std::uint32_t> last_;
};

}  // namespace

PlanProblems problems_of(const AveragePlan& average, const ParallelPlan& plan) {
    PlanProblems problems;
    if (plan.data < 2)
        problems.emplace_back("/average", "averages nothing among one replica; expected data > 1");
    if (plan.expert > 1)
        problems.emplace_back(
            "/average",
            "lets replicas' weights differ between exchanges, and experts are divided among "
            "replicas; expected expert 1");
    if (plan.sharding != Sharding::kNone)
        problems.emplace_back(
            "/average",
            "lets replicas' weights differ between exchanges, so none holds a part for another; "
            "expected sharding none");
    if (average.method == AverageMethod::kOneShot && average.overlap)
        problems.emplace_back(
            "/average/overlap", "is set, and nothing follows a single exchange; expected false");
    return problems;
}

namespace {

/// Parameters that a rank of the replica holds.
double parameters_of(const TrainingStep& one, const RankPlace& place) {
    double sum = 0;
    for (const std::uint32_t stage : one.schedule().stages_on(place.device))
        sum += one.work().parameters(stage);
    return sum;
}

/// The replicas' local steps, without the exchange.
ExecutionGraph local_steps(
    const std::vector<ReplicaApart>& apart, const RankMap& replica, const RankMap& all,
    std::uint32_t every) {
    if (apart.size() == 1 && replica.ranks() == 1) {
        ExecutionGraph graph = repeat(apart.front().step, every);
        graph.ranks.assign(apart.front().replicas, graph.ranks.front());
        return graph;
    }
    std::vector<ExecutionGraph> graphs;
    std::uint32_t data = 0;
    for (const ReplicaApart& alike : apart) {
        const ExecutionGraph steps = repeat(alike.step, every);
        for (std::uint32_t i = 0; i < alike.replicas; ++i, ++data) {
            std::vector<std::uint32_t> on;
            for (std::uint32_t r = 0; r < replica.ranks(); ++r) {
                RankPlace place = replica.place(r);
                place.data = data;
                on.push_back(all.rank(place));
            }
            graphs.push_back(place_on(steps, on));
        }
    }
    return join(graphs);
}

/// Samples and operations of all replicas in a step.
void add_up(const std::vector<ReplicaApart>& apart, TrainingFacts& facts) {
    facts.samples = 0;
    facts.flops = 0;
    for (const ReplicaApart& alike : apart) {
        facts.samples += alike.step.training.samples * alike.replicas;
        facts.flops += alike.step.training.flops * alike.replicas;
    }
}

}  // namespace

std::vector<HeldWeights> held_weights(const std::vector<const TrainingStep*>& by_rank) {
    std::vector<HeldWeights> held;
    const RankMap map(by_rank.front()->plan());
    for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank)
        held.push_back({parameters_of(*by_rank[rank], map.place(rank)), &by_rank[rank]->times()});
    return held;
}

ExecutionGraph averaged_steps(
    const ParallelPlan& plan, const std::vector<ReplicaApart>& apart, const AveragePlan& average) {
    std::vector<const ReplicaApart*> of_replica;
    for (const ReplicaApart& alike : apart)
        of_replica.insert(of_replica.end(), alike.replicas, &alike);
    const auto replicas = static_cast<std::uint32_t>(of_replica.size());
    ParallelPlan whole = plan;
    whole.data = replicas;
    const RankMap replica(plan);
    const RankMap all(whole);
    ExecutionGraph graph = local_steps(apart, replica, all, average.every);
    const auto first_name = static_cast<std::uint32_t>(graph.names.size());
    NameTable names;
    for (std::uint32_t r = 0; r < replica.ranks(); ++r) {
        // The ranks that hold the same weights, one of each replica.
        RankPlace place = replica.place(r);
        Group group{replica.ranks() == 1 ? "replicas" : fmt::format("replicas of rank {}", r), {}};
        for (place.data = 0; place.data < replicas; ++place.data)
            group.ranks.push_back(all.rank(place));
        const auto number = static_cast<std::uint32_t>(graph.groups.size());
        std::shared_ptr<const RankGraph> before;
        std::shared_ptr<const RankGraph> with;
        for (std::uint32_t data = 0; data < replicas; ++data) {
            const std::uint32_t rank = group.ranks[data];
            // Ranks of replicas of one GPU are one object.
            if (graph.ranks[rank] != before) {
                before = graph.ranks[rank];
                RankGraph own = *before;
                Exchange(
                    plan.bucket, average, own, of_replica[data]->by_rank[r], number, first_name,
                    names)
                    .write();
                with = std::make_shared<const RankGraph>(std::move(own));
            }
            graph.ranks[rank] = with;
        }
        graph.groups.push_back(std::move(group));
    }
    std::ranges::move(names.take(), std::back_inserter(graph.names));
    graph.provenance.world_size = all.ranks();
    add_up(apart, graph.training);
    return graph;
}

ExecutionGraph averaged_steps(
    const TrainingStep& one, ExecutionGraph step, const AveragePlan& average,
    std::uint32_t replicas) {
    std::vector<ReplicaApart> alike(1);
    alike.front() = {
        held_weights(std::vector<const TrainingStep*>(ranks_of(one.plan()), &one)), std::move(step),
        replicas};
    return averaged_steps(one.plan(), alike, average);
}

}  // namespace switchfold

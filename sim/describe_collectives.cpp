// SPDX-License-Identifier: Apache-2.0
#include "sim/describe_collectives.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "interconnect/topology_analysis.h"
#include "models/collectives/library.h"
#include "sim/machine/folded_ranks.h"
#include "sim/machine/simulate.h"
#include "sim/machine/system_queries.h"
#include "sim/pool/value_jobs.h"
#include "sim/results/summary.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <tuple>
#include <type_traits>

namespace switchfold {

namespace {

/// Ends a simulation that is longer than describe may wait for.
struct TooLong {};

/// What a job sends back.
struct RanAllReduce {
    std::string algorithm;
    std::string protocol;
    std::uint32_t blocks = 0;
    bool simulated = false;
    double time_us = 0;

    static constexpr auto fields() {
        using R = RanAllReduce;
        return list_of(
            member("algorithm", &R::algorithm), member("protocol", &R::protocol),
            member("blocks", &R::blocks), member("simulated", &R::simulated),
            member("time_us", &R::time_us));
    }
};

/// What auto chooses for each size, without simulating.
std::vector<RanAllReduce>
chosen_all_reduces(const SystemParams& system, const std::vector<std::uint64_t>& sizes) {
    const std::vector<std::uint32_t> ranks = first_ranks(gpus_of(system));
    const Topology topology = build_topology(system.topology);
    const CollectiveParams& params = *system.collectives;
    const CallGroup group(topology, ranks, params.transfer_unit);
    const CollectivePolicy policy = CollectivePolicies().of(CollectiveKind::kAllReduce);
    std::vector<RanAllReduce> chosen;
    for (const std::uint64_t bytes : sizes) {
        const CollectiveCall call{CollectiveKind::kAllReduce, Bytes(bytes), Datatype::kFloat32};
        const CollectiveConfig choice =
            library_for(call.kind, policy).choose(params, policy, call, group);
        const ChoiceWords words = library_of(choice).words(choice);
        chosen.push_back(
            {std::string(words.algorithm), std::string(words.mover), choice.channels, false, 0});
    }
    return chosen;
}

/// The same as a run of a scenario whose all-reduces are auto says; nothing if it takes too many
/// events.
RanAllReduce
ran_all_reduce(const SystemParams& system, std::uint64_t bytes, std::uint64_t most_events) {
    const ExecutionGraph graph = single_collective(
        CollectiveKind::kAllReduce, Bytes(bytes), Datatype::kFloat32, gpus_of(system));
    SimulateOptions options;
    options.progress = [most_events](double, std::uint64_t events) {
        if (events > most_events)
            throw TooLong();
    };
    try {
        const std::vector<CollectiveResult> results =
            collective_results(graph, simulate(system, graph, CollectivePolicies(), options));
        const CollectiveResult& all = results.front();
        return {all.algorithm, all.protocol, all.channels, true, all.time_us};
    } catch (const TooLong&) {
        return {};
    }
}

/// Puts down what would run, from one machine for all sizes.
void choose(
    const SystemParams& system, const RunJobs& run, std::vector<DescribedAllReduce>& described) {
    std::vector<std::uint64_t> sizes;
    for (const DescribedAllReduce& one : described)
        sizes.push_back(one.bytes);
    const Job job{
        "choice of all-reduces",
        [&](const JobProgress&) { return value_bytes(chosen_all_reduces(system, sizes)); }, 1};
    const auto chosen = values_of<std::vector<RanAllReduce>>({&job, 1}, run);
    for (std::size_t i = 0; i < described.size(); ++i) {
        described[i].algorithm = chosen.front()[i].algorithm;
        described[i].protocol = chosen.front()[i].protocol;
        described[i].blocks = chosen.front()[i].blocks;
    }
}

bool same_way(const DescribedAllReduce& a, const DescribedAllReduce& b) {
    return a.algorithm == b.algorithm && a.protocol == b.protocol;
}

/// Which sizes are worth a simulation. One of many ranks that ends nowhere near its limit costs
/// seconds and gigabytes before its first event.
class Trials {
public:
    Trials(
        const SystemParams& system, std::uint64_t most_events,
        const std::vector<DescribedAllReduce>& described) :
        described_(described) {
        for (std::size_t i = 0; i < described.size(); ++i)
            if (std::uint64_t{gpus_of(system)} * described[i].blocks <= most_events ||
                folds(system, described[i]))
                waiting_.push_back(i);
    }

    /// The next ones: a size of each algorithm and protocol, then two, then four.
    std::vector<std::size_t> next() {
        std::vector<std::size_t> now;
        std::vector<std::size_t> later;
        for (const std::size_t i : waiting_) {
            const auto of_its_way = std::count_if(now.begin(), now.end(), [&](std::size_t other) {
                return same_way(described_[i], described_[other]);
            });
            (of_its_way < width_ ? now : later).push_back(i);
        }
        waiting_ = later;
        width_ *= 2;
        return now;
    }

    /// More data in as many blocks and more take as many events and more.
    void too_long(std::size_t i) {
        std::erase_if(waiting_, [&](std::size_t other) {
            return same_way(described_[i], described_[other]) &&
                   described_[other].bytes >= described_[i].bytes &&
                   described_[other].blocks >= described_[i].blocks;
        });
    }

private:
    /// Whether few ranks stand for all; else each block of each rank takes an event at least.
    /// Asked of the largest size of an algorithm and protocol, which folds if any does.
    bool folds(const SystemParams& system, const DescribedAllReduce& one) {
        const auto largest = std::find_if(
            described_.rbegin(), described_.rend(),
            [&](const DescribedAllReduce& other) { return same_way(one, other); });
        const auto [known, fresh] = folds_.try_emplace(largest->bytes, false);
        if (fresh)
            known->second = fold_of(
                                system,
                                single_collective(
                                    CollectiveKind::kAllReduce, Bytes(largest->bytes),
                                    Datatype::kFloat32, gpus_of(system)),
                                CollectivePolicies(), Fidelity::kAuto)
                                .has_value();
        return known->second;
    }

    const std::vector<DescribedAllReduce>& described_;
    std::vector<std::size_t> waiting_;
    std::map<std::uint64_t, bool> folds_;
    std::ptrdiff_t width_ = 1;
};

/// What a GPU, or a machine of several, can send at most, in bytes per second: of the slowest.
double slowest_way_out(const Topology& topology) {
    std::vector<double> of_gpu(topology.nodes.size(), 0);
    std::vector<double> of_machine(topology.machines(), 0);
    const auto leaves = [&](std::uint32_t node, std::uint32_t other, double bandwidth) {
        of_gpu[node] += bandwidth;
        const std::uint32_t machine = topology.nodes[node].machine;
        if (machine < of_machine.size() && machine != topology.nodes[other].machine)
            of_machine[machine] += bandwidth;
    };
    for (const TopologyEdge& edge : topology.edges) {
        const auto bandwidth = static_cast<double>(usable_bandwidth(topology, edge).count());
        leaves(edge.a, edge.b, bandwidth);
        leaves(edge.b, edge.a, bandwidth);
    }
    double slowest = 0;
    const auto consider = [&](double bandwidth) {
        slowest = slowest == 0 ? bandwidth : std::min(slowest, bandwidth);
    };
    for (std::size_t node = 0; node < topology.nodes.size(); ++node)
        if (topology.nodes[node].kind == NodeKind::kGpu)
            consider(of_gpu[node]);
    if (topology.machines() > 1)
        for (const double machine : of_machine)
            consider(machine);
    return slowest;
}

}  // namespace

std::vector<DescribedAllReduce> describe_all_reduces(
    const SystemParams& system, const std::vector<std::uint64_t>& sizes, std::uint64_t most_events,
    const RunJobs& run) {
    constexpr double kMicroseconds = 1e6;
    const double out = slowest_way_out(build_topology(system.topology));
    std::vector<DescribedAllReduce> described;
    for (const std::uint64_t bytes : sizes) {
        DescribedAllReduce& one = described.emplace_back();
        one.bytes = bytes;
        if (out > 0)
            one.at_least_us = static_cast<double>(bytes) / out * kMicroseconds;
    }
    choose(system, run, described);
    Trials trials(system, most_events, described);
    for (std::vector<std::size_t> now = trials.next(); !now.empty(); now = trials.next()) {
        std::vector<Job> jobs;
        for (const std::size_t i : now)
            jobs.push_back(
                {fmt::format("all-reduce of {}", to_string(Bytes(sizes[i]))),
                 [&system, bytes = sizes[i], most_events](const JobProgress&) {
                     return value_bytes(ran_all_reduce(system, bytes, most_events));
                 },
                 1});
        run(jobs, [&](std::size_t job, const JobResult& result) {
            DescribedAllReduce& one = described[now[job]];
            if (result.code == ExitCode::kUnfinished) {
                one.failure = result.error;
                return;
            }
            if (result.code != ExitCode::kDone)
                rethrow(jobs[job], result);
            const auto got = value_of_bytes<RanAllReduce>(result.bytes);
            one.simulated = got.simulated;
            if (!got.simulated) {
                trials.too_long(now[job]);
                return;
            }
            one.algorithm = got.algorithm;
            one.protocol = got.protocol;
            one.blocks = got.blocks;
            one.time_us = got.time_us;
        });
    }
    return described;
}

std::string all_reduce_table(const SystemParams& system, const RunJobs& run) {
    if (!system.has_gpus() || gpus_of(system) < 2)
        return "";
    constexpr std::uint64_t kFrom = 1024;
    constexpr std::uint64_t kTo = 4ULL << 30U;
    constexpr std::uint64_t kTimes = 4;
    constexpr std::uint64_t kMostEvents = 40'000;  // a tenth of a second
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t bytes = kFrom; bytes <= kTo; bytes *= kTimes)
        sizes.push_back(bytes);
    std::string out = "\nall-reduce over all GPUs as auto runs it (simulated):\n";
    for (const DescribedAllReduce& one : describe_all_reduces(system, sizes, kMostEvents, run)) {
        const std::string size = to_string(Bytes(one.bytes));
        if (!one.failure.empty())
            out += fmt::format("  {:>8}  does not end: {}\n", size, one.failure);
        else
            out += fmt::format(
                "  {:>8}  {:<9} {:<6} {:>2} blocks  {:>12.1f} us{}\n", size, one.algorithm,
                one.protocol, one.blocks, one.simulated ? one.time_us : one.at_least_us,
                one.simulated ? "" : " at least: a bound, not simulated");
    }
    return out;
}

}  // namespace switchfold

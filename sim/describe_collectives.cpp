// SPDX-License-Identifier: Apache-2.0
#include "sim/describe_collectives.h"

#include "core/error.h"
#include "interconnect/topology_analysis.h"
#include "models/collectives/library.h"
#include "sim/machine/machine.h"
#include "sim/machine/simulate.h"
#include "sim/machine/system_queries.h"
#include "sim/pool/value_jobs.h"
#include "sim/results/summary.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <numeric>
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
    Simulation simulation;
    MachineOptions options;
    options.ranks = gpus_of(system);
    Group world{"world", std::vector<std::uint32_t>(options.ranks)};
    std::iota(world.ranks.begin(), world.ranks.end(), 0U);
    options.groups = {world};
    Machine machine(simulation, system, options);
    std::vector<RanAllReduce> chosen;
    for (const std::uint64_t bytes : sizes) {
        const Choice choice = machine.collectives().choose(world.ranks, Bytes(bytes));
        const ChoiceWords words = library_of(choice).words(choice);
        chosen.push_back(
            {std::string(words.algorithm), std::string(words.mover), choice.channels, false, 0});
    }
    // Only after a run a machine is destroyed fast (Simulation::run()).
    simulation.run([](Time, std::uint64_t) { return false; });
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

/// Adds what would run where no run told, from one machine for all sizes.
void add_choices(
    const SystemParams& system, const RunJobs& run, std::vector<DescribedAllReduce>& described) {
    std::vector<std::uint64_t> sizes;
    std::vector<DescribedAllReduce*> untold;
    for (DescribedAllReduce& one : described)
        if (!one.simulated && one.failure.empty()) {
            sizes.push_back(one.bytes);
            untold.push_back(&one);
        }
    if (sizes.empty())
        return;
    const Job job{
        "choice of all-reduces",
        [&](const JobProgress&) { return value_bytes(chosen_all_reduces(system, sizes)); }, 1};
    const auto chosen = values_of<std::vector<RanAllReduce>>({&job, 1}, run);
    for (std::size_t i = 0; i < untold.size(); ++i) {
        untold[i]->algorithm = chosen.front()[i].algorithm;
        untold[i]->protocol = chosen.front()[i].protocol;
        untold[i]->blocks = chosen.front()[i].blocks;
    }
}

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
    std::vector<Job> jobs;
    for (const std::uint64_t bytes : sizes) {
        DescribedAllReduce& one = described.emplace_back();
        one.bytes = bytes;
        if (out > 0)
            one.at_least_us = static_cast<double>(bytes) / out * kMicroseconds;
        jobs.push_back(
            {fmt::format("all-reduce of {}", to_string(Bytes(bytes))),
             [&system, bytes, most_events](const JobProgress&) {
                 return value_bytes(ran_all_reduce(system, bytes, most_events));
             },
             1});
    }
    run(jobs, [&](std::size_t job, const JobResult& result) {
        DescribedAllReduce& one = described[job];
        if (result.code == ExitCode::kUnfinished) {
            one.failure = result.error;
            return;
        }
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        const auto got = value_of_bytes<RanAllReduce>(result.bytes);
        one.algorithm = got.algorithm;
        one.protocol = got.protocol;
        one.blocks = got.blocks;
        one.simulated = got.simulated;
        one.time_us = got.time_us;
    });
    add_choices(system, run, described);
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

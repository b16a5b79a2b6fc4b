// SPDX-License-Identifier: Apache-2.0
#include "models/tests/test_machine.h"

#include <benchmark/benchmark.h>

#include <cstdint>

namespace switchfold {
namespace {

/// One all-reduce over all GPUs of a machine, with the fabric alone; construction is not timed. The
/// counter reports the cost per packet and link, including everything at both ends.
void all_reduce(
    benchmark::State& state, const Topology& topology, Algorithm algorithm, Bytes size) {
    CollectivePolicy policy;
    policy.algorithm = algorithm;
    std::uint64_t hops = 0;
    for (auto unused : state) {
        static_cast<void>(unused);
        state.PauseTiming();
        {
            TestMachine machine(topology, TestMachine::params(), policy);
            CollectiveOperation operation;
            operation.bytes = size;
            state.ResumeTiming();
            benchmark::DoNotOptimize(machine.run(operation));
            state.PauseTiming();
            for (const auto& link : machine.fabric.links())
                hops += link->statistics().packets;
        }
        state.ResumeTiming();
    }
    state.counters["hop"] = benchmark::Counter(
        static_cast<double>(hops), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// range(0): GPUs of one switch domain, range(1): KiB.
void ring(benchmark::State& state) {
    const auto gpus = static_cast<std::uint32_t>(state.range(0));
    all_reduce(
        state, TestMachine::hgx(gpus).build(), Algorithm::kRing,
        kibibytes(static_cast<std::uint64_t>(state.range(1))));
}
BENCHMARK(ring)
    ->Args({8, 1 << 10})
    ->Args({8, 1 << 20})
    ->Args({64, 1 << 10})
    ->Args({256, 1 << 10})
    ->Args({1024, 1 << 10})
    ->Unit(benchmark::kMillisecond);

void in_switch(benchmark::State& state) {
    all_reduce(
        state, TestMachine::hgx(8).build(), Algorithm::kInSwitch,
        kibibytes(static_cast<std::uint64_t>(state.range(0))));
}
BENCHMARK(in_switch)->Arg(1 << 10)->Arg(1 << 18)->Unit(benchmark::kMillisecond);

/// range(0): machines of 8 GPUs, range(1): the algorithm.
void across(benchmark::State& state) {
    all_reduce(
        state, TestMachine::cluster(static_cast<std::uint32_t>(state.range(0)), 8),
        static_cast<Algorithm>(state.range(1)), mebibytes(16));
}
BENCHMARK(across)
    ->ArgsProduct(
        {{2, 8},
         {static_cast<long>(Algorithm::kRing), static_cast<long>(Algorithm::kTree),
          static_cast<long>(Algorithm::kInSwitchTree)}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace switchfold

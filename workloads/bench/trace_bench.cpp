// SPDX-License-Identifier: Apache-2.0
// How fast traces are read, in bytes of JSON a second of one core, and what a reading keeps in
// memory.
#include "workloads/readers/kineto/reader.h"
#include "workloads/readers/kineto/scanner.h"
#include "workloads/tests/big_trace.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

namespace switchfold {
namespace {

using test_data::BigTrace;

constexpr std::uint64_t kBytes = 256ULL << 20U;

void count_bytes(benchmark::State& state, const BigTrace& trace) {
    state.SetBytesProcessed(
        static_cast<std::int64_t>(std::filesystem::file_size(trace.path()) * state.iterations()));
}

/// Finds where events begin and end.
void scan(benchmark::State& state) {
    const BigTrace trace(kBytes);
    for (auto unused : state) {
        static_cast<void>(unused);
        std::uint64_t events = 0;
        TraceScanner(trace.path(), {}).run([&](std::string&, std::uint64_t) { ++events; });
        benchmark::DoNotOptimize(events);
    }
    count_bytes(state, trace);
}
BENCHMARK(scan)->Unit(benchmark::kMillisecond);

/// Everything up to a trace in memory: parses events, joins launches and operators.
void read(benchmark::State& state) {
    const BigTrace trace(kBytes);
    for (auto unused : state) {
        static_cast<void>(unused);
        const RawTrace raw = read_raw_trace(trace.path(), kMostInflated);
        benchmark::DoNotOptimize(raw.gpu.data());
        state.counters["kernels"] = static_cast<double>(raw.gpu.size());
    }
    count_bytes(state, trace);
}
BENCHMARK(read)->Unit(benchmark::kMillisecond);

/// Everything up to the graph.
void build(benchmark::State& state) {
    const BigTrace trace(kBytes);
    for (auto unused : state) {
        static_cast<void>(unused);
        const TraceWorkload workload = workload_of(read_raw_trace(trace.path(), kMostInflated));
        benchmark::DoNotOptimize(workload.graph.ranks.data());
    }
    count_bytes(state, trace);
}
BENCHMARK(build)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace switchfold

BENCHMARK_MAIN();

// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/event_queue.h"

#include "core/random_stream.h"

#include <benchmark/benchmark.h>

#include <cstdint>

namespace switchfold {
namespace {

/// Takes an event and posts another while range(0) events wait. Delays are 0.1 to 1 us in steps of
/// range(1) ps: 1 ps gives every event its own time; 100,000 ps puts a tenth of them at one
/// instant, as for the ranks of a ring.
void hold(benchmark::State& state) {
    const auto waiting = static_cast<std::uint64_t>(state.range(0));
    const auto step = static_cast<std::uint64_t>(state.range(1));
    RandomStream stream(1, "event_queue_bench");
    const auto delay = [&] {
        return 100'000 + static_cast<std::uint64_t>(stream.share() * 900'000) / step * step;
    };
    EventQueue queue;
    for (std::uint64_t i = 0; i < waiting; ++i)
        queue.push({delay(), nullptr, i});
    EventQueue::Event event{};
    for (auto unused : state) {
        static_cast<void>(unused);
        queue.pop(UINT64_MAX, event);
        queue.push({event.due + delay(), nullptr, event.tag});
    }
    benchmark::DoNotOptimize(event);
}
BENCHMARK(hold)->ArgsProduct({{16, 256, 4096, 65536}, {1, 100'000}});

}  // namespace
}  // namespace switchfold

BENCHMARK_MAIN();

// libsystemc leaves sc_main undefined; it is never called, because this program has its own main.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}

// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/optimal.h"

#include "training/memory/access/network_schedule.h"
#include "training/network/zoo/zoo.h"

#include <benchmark/benchmark.h>

namespace switchfold {
namespace {

/// Granules of 64 KiB, 80 GB, and batches that do not fit.
void plan(benchmark::State& state, const char* network, std::uint32_t batch, Staging staging) {
    NetworkScheduleOptions options;
    options.batch = batch;
    const TensorUses schedule = network_schedule(*find_network(network), options);
    const OffloadProblem problem = offload_problem(schedule, staging);
    const std::uint64_t capacity = 80'000'000'000ULL - schedule.resident_bytes;
    OffloadChoice choice;
    for ([[maybe_unused]] auto _ : state)
        benchmark::DoNotOptimize(choice = retain_optimally(problem, capacity));
    state.SetLabel(choice.refusal);
    state.counters["candidates"] = static_cast<double>(problem.size());
    state.counters["flags"] = choice.certificate.flags;
    state.counters["windows"] = choice.certificate.windows_tried;
    state.counters["retained_share"] =
        choice.retained.empty() ? -1.0
                                : static_cast<double>(retained_bytes(problem, choice.retained)) /
                                      static_cast<double>(problem.total());
    state.counters["gap_MiB"] =
        choice.retained.empty()
            ? -1.0
            : static_cast<double>(
                  choice.certificate.saved_at_most - saved_bytes(problem, choice.retained)) /
                  (1U << 20U);
}

BENCHMARK_CAPTURE(plan, resnet50_window, "resnet50", 1024, Staging::kWindow)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, resnet50_double_peak, "resnet50", 1024, Staging::kDoublePeak)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, gpt2_xl_window, "gpt2_xl", 16, Staging::kWindow)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, gpt2_xl_double_peak, "gpt2_xl", 16, Staging::kDoublePeak)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, vgg16_window, "vgg16", 1024, Staging::kWindow)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, unet_window, "unet_416x608", 128, Staging::kWindow)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, densenet121_window, "densenet121", 1024, Staging::kWindow)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace switchfold

BENCHMARK_MAIN();

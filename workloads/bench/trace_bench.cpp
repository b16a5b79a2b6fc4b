// SPDX-License-Identifier: Apache-2.0
// How fast traces are read, in bytes of JSON a second of one core, and what a reading keeps in
// memory.
#include "workloads/kineto/raw_trace.h"
#include "workloads/kineto/scanner.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace switchfold {
namespace {

/// A trace as PyTorch's profiler writes one, of about `bytes`: for each kernel its launching call,
/// an operator with shapes, flow arrows and a Python frame.
class BigTrace {
public:
    explicit BigTrace(std::uint64_t bytes) :
        path_(std::filesystem::temp_directory_path() / "switchfold_trace_bench.json") {
        std::ofstream out(path_);
        out << "{\"schemaVersion\": 1, \"traceEvents\": [\n";
        std::uint64_t written = 0;
        for (std::uint64_t i = 0; written < bytes; ++i) {
            const std::string text = events(i, i * 10);
            out << (i == 0 ? "" : ",\n") << text;
            written += text.size() + 2;
        }
        out << "\n]}\n";
    }
    ~BigTrace() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    BigTrace(const BigTrace&) = delete;
    BigTrace& operator=(const BigTrace&) = delete;
    BigTrace(BigTrace&&) = delete;
    BigTrace& operator=(BigTrace&&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    static std::string events(std::uint64_t i, std::uint64_t us) {
        const auto event = [us](const char* head, int part, const char* after, std::string args) {
            return fmt::format(
                "  {{\n    {}, \"pid\": 7, \"tid\": 7, \"ts\": {}.{}{},\n    \"args\": {{{}}}\n  "
                "}}",
                head,
                us,
                part,
                after,
                args);
        };
        const std::string arrow = event(R"("ph": "s", "cat": "ac2g", "name": "ac2g")", 5, "", "");
        const char* const frame =
            R"("ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py: _call_impl")";
        const char* const shapes =
            R"("Input Dims": [[64, 256, 56, 56], [64, 256, 56, 56], []], "Input type": ["float", "float", "Scalar"], "Concrete Inputs": ["", "", "1"])";
        const char* const launch =
            R"("ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel")";
        const char* const kernel =
            R"("ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>>")";
        const char* const resources =
            R"("queued": 0, "device": 0, "context": 1, "stream": 7, "registers per thread": 32, "shared memory": 0, "blocks per SM": 28.5, "grid": [3136, 1, 1], "block": [128, 1, 1])";
        return fmt::format(
            "{},\n{},\n{},\n{},\n{},\n{}",
            event(frame, 1, ", \"dur\": 9.375", fmt::format("\"Python id\": {}", i)),
            event(
                R"("ph": "X", "cat": "cpu_op", "name": "aten::add_")",
                2,
                ", \"dur\": 8.125",
                fmt::format("\"External id\": {}, {}", i, shapes)),
            event(launch, 3, ", \"dur\": 5.125", fmt::format("\"correlation\": {}", i)),
            arrow,
            event(
                kernel,
                4,
                ", \"dur\": 7.250",
                fmt::format("\"correlation\": {}, {}", i, resources)),
            arrow);
    }
    std::filesystem::path path_;
};

constexpr std::uint64_t kBytes = 256ULL << 20U;

void count_bytes(benchmark::State& state, const BigTrace& trace) {
    state.SetBytesProcessed(
        static_cast<std::int64_t>(std::filesystem::file_size(trace.path()) * state.iterations()));
}

/// Finding where events begin and end.
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

/// All until the trace lies in memory: events parsed, launches and operators joined.
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

/// All until there is a graph.
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

// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>

#include "micro.cuh"

namespace {

__global__ void nothing() {}

double now_us() {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void print(const char* which, const Times& us) {
    std::printf(
        "{\"what\": \"latency\", \"which\": \"%s\", \"median_us\": %.3f, \"low_us\": %.3f, "
        "\"high_us\": %.3f}\n",
        which,
        us.median,
        us.low,
        us.high);
    std::fflush(stdout);
}

constexpr int kRuns = 200;

template <class Work>
Times time_on_host(const Work& work) {
    std::vector<double> us;
    for (int run = -10; run < kRuns; ++run) {
        const double start = now_us();
        work();
        if (run >= 0)
            us.push_back(now_us() - start);
    }
    return summary(us);
}

}  // namespace

void measure_latency() {
    cudaStream_t first;
    cudaStream_t second;
    cudaEvent_t event;
    check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    const auto wait = [&] { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); };

    print("launch call", time_on_host([&] { nothing<<<1, 32, 0, first>>>(); }));
    wait();
    print("launch to end", time_on_host([&] {
              nothing<<<1, 32, 0, first>>>();
              check(cudaStreamSynchronize(first), "cudaStreamSynchronize");
          }));
    // Back-to-back kernels on a stream that is never empty: measures the gap between two of them.
    constexpr int kChain = 1000;
    Times chain = time_on_gpu(5, [&] {
        for (int i = 0; i < kChain; ++i)
            nothing<<<1, 32>>>();
    });
    for (double* us : {&chain.median, &chain.low, &chain.high})
        *us /= kChain;
    print("kernel behind kernel", chain);
    wait();
    print("event record call", time_on_host([&] {
              check(cudaEventRecord(event, first), "cudaEventRecord");
          }));
    wait();
    print("kernel, event, kernel on another stream, end", time_on_host([&] {
              nothing<<<1, 32, 0, first>>>();
              check(cudaEventRecord(event, first), "cudaEventRecord");
              check(cudaStreamWaitEvent(second, event), "cudaStreamWaitEvent");
              nothing<<<1, 32, 0, second>>>();
              check(cudaStreamSynchronize(second), "cudaStreamSynchronize");
          }));
    wait();
    print("synchronise an idle stream", time_on_host([&] {
              check(cudaStreamSynchronize(first), "cudaStreamSynchronize");
          }));
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

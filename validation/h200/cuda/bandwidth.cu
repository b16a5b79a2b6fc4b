// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>

#include "micro.cuh"

namespace {

enum class Access { kRead, kWrite, kCopy };

const char* name_of(Access access) {
    switch (access) {
    case Access::kRead:
        return "read";
    case Access::kWrite:
        return "write";
    case Access::kCopy:
        break;
    }
    return "copy";
}

/// Streams `passes` times over `vectors` of memory. Loads and stores bypass the L1.
template <Access kAccess>
__global__ void stream(float4* data, std::size_t vectors, int passes, float* sink) {
    const std::size_t half = vectors / 2;
    const std::size_t span = kAccess == Access::kCopy ? half : vectors;
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    float sum = 0;
    for (int pass = 0; pass < passes; ++pass)
        for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < span;
             i += step) {
            if constexpr (kAccess == Access::kRead)
                sum += __ldcg(data + i).x;
            else if constexpr (kAccess == Access::kWrite)
                __stcg(data + i, float4{1, 2, 3, 4});
            else
                __stcg(data + half + i, __ldcg(data + i));
        }
    if (sum == 1.5F)  // never true: keeps the compiler from removing the loads
        *sink = sum;
}

template <Access kAccess>
void measure(const char* memory, const DeviceBuffer& buffer, std::size_t bytes, int passes) {
    constexpr int kThreads = 512;
    constexpr int kRuns = 7;
    const DeviceBuffer sink(sizeof(float));
    for (const int blocks : {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 132, 264, 528}) {
        const Times us = time_on_gpu(kRuns, [&] {
            stream<kAccess><<<blocks, kThreads>>>(
                buffer.as<float4>(), bytes / sizeof(float4), passes, sink.as<float>());
            check(cudaGetLastError(), "launching stream");
        });
        std::printf(
            "{\"what\": \"bandwidth\", \"memory\": \"%s\", \"access\": \"%s\", \"blocks\": %d, "
            "\"threads\": %d, \"bytes\": %zu, \"median_us\": %.3f, \"low_us\": %.3f, \"high_us\": "
            "%.3f}\n",
            memory,
            name_of(kAccess),
            blocks,
            kThreads,
            bytes * static_cast<std::size_t>(passes),
            us.median,
            us.low,
            us.high);
        std::fflush(stdout);
    }
}

void measure_all(const char* memory, std::size_t bytes, int passes) {
    const DeviceBuffer buffer(bytes);
    measure<Access::kRead>(memory, buffer, bytes, passes);
    measure<Access::kWrite>(memory, buffer, bytes, passes);
    measure<Access::kCopy>(memory, buffer, bytes, passes);
}

}  // namespace

void measure_bandwidth() {
    int l2 = 0;
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0), "cudaDeviceGetAttribute");
    measure_all("hbm", std::size_t{16} * static_cast<std::size_t>(l2), 1);
    measure_all("l2", static_cast<std::size_t>(l2) / 4, 32);
}

// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>

#include "micro.cuh"

// Finds out which blocks share an SM: a kernel like NCCL's occupies some SMs, and another kernel's
// blocks go where there is room. Each block records its SM and its time.
namespace {

struct Seat {
    unsigned sm;
    unsigned long long start_ns;
    unsigned long long end_ns;
};

__device__ unsigned long long global_time_ns() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

__global__ void sit(unsigned long long ns, Seat* seats) {
    const unsigned long long start = global_time_ns();
    while (global_time_ns() - start < ns)
        __nanosleep(500);
    if (threadIdx.x == 0) {
        unsigned sm = 0;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        seats[blockIdx.x] = {sm, start, global_time_ns()};
    }
}

std::vector<Seat> seats_of(const DeviceBuffer& buffer, int blocks) {
    std::vector<Seat> seats(static_cast<std::size_t>(blocks));
    check(
        cudaMemcpy(
            seats.data(), buffer.as<Seat>(), seats.size() * sizeof(Seat), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
    return seats;
}

/// Starts a resident kernel of `holders` blocks, then one wave of the other kernel.
void measure(int holders, int threads, int shared_bytes, int sms) {
    constexpr int kHolderThreads = 544;  // NCCL's
    constexpr int kHolderShared = 82 * 1024;
    cudaStream_t first;
    cudaStream_t second;
    check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "cudaStreamCreate");
    check(
        cudaFuncSetAttribute(sit, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024),
        "cudaFuncSetAttribute");
    int each = 0;
    check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, sit, threads, static_cast<std::size_t>(shared_bytes)),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const int blocks = each * sms;
    const DeviceBuffer held(static_cast<std::size_t>(holders) * sizeof(Seat));
    const DeviceBuffer others(static_cast<std::size_t>(blocks) * sizeof(Seat));
    sit<<<holders, kHolderThreads, kHolderShared, first>>>(20'000'000, held.as<Seat>());
    check(cudaGetLastError(), "launching the resident kernel");
    // The holders run for 20 ms; the wave starts long after they have become resident.
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(2)) {
    }
    sit<<<blocks, threads, static_cast<std::size_t>(shared_bytes), second>>>(
        50'000, others.as<Seat>());
    check(cudaGetLastError(), "launching the wave");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::map<unsigned, int> holders_on;
    for (const Seat& seat : seats_of(held, holders))
        ++holders_on[seat.sm];
    const std::vector<Seat> wave = seats_of(others, blocks);
    unsigned long long first_start = wave[0].start_ns;
    for (const Seat& seat : wave)
        first_start = std::min(first_start, seat.start_ns);
    int at_once = 0;
    int beside = 0;
    for (const Seat& seat : wave) {
        const bool early = seat.start_ns < first_start + 25'000;
        at_once += early;
        beside += early && holders_on.count(seat.sm) != 0;
    }
    std::printf(
        "{\"what\": \"residency\", \"holders\": %d, \"holder_threads\": %d, \"holder_shared\": %d, "
        "\"sms_with_holders\": %zu, \"threads\": %d, \"shared\": %d, \"blocks_of_a_wave\": %d, "
        "\"at_once\": %d, \"beside_holders\": %d}\n",
        holders,
        kHolderThreads,
        kHolderShared,
        holders_on.size(),
        threads,
        shared_bytes,
        blocks,
        at_once,
        beside);
    std::fflush(stdout);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

}  // namespace

void measure_residency() {
    int sms = 0;
    check(
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
    for (const int holders : {2, 8, 16, 24, 32})
        for (const int threads : {128, 256, 512, 1024})
            for (const int shared : {0, 48 * 1024, 100 * 1024, 160 * 1024})
                measure(holders, threads, shared, sms);
}

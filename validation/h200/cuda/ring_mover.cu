// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "ring_mover.h"

namespace {

constexpr int kMostBlocks = 256;

/// Progress of one block, written by that block only.
struct alignas(64) BlockCount {
    unsigned long long bytes;
    unsigned long long start_ns;
    unsigned long long end_ns;
};

__device__ unsigned long long global_time_ns() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

/// Accesses for a slice in one step: reads slot and possibly user, writes slot and possibly user.
struct Step {
    bool reads_slot;
    bool reads_user;
    bool writes_slot;
    bool writes_user;
};

/// The k-th of the 2N-1 steps of a ring all-reduce, as seen by this GPU's memory.
__device__ Step step_of(int k, int ranks) {
    if (k == 0)
        return {false, true, true, false};  // send
    if (k < ranks - 1)
        return {true, true, true, false};  // receive, reduce, send
    if (k == ranks - 1)
        return {true, true, true, true};  // receive, reduce, copy, send
    if (k < 2 * ranks - 2)
        return {true, false, true, true};  // receive, copy, send
    return {true, false, false, true};     // receive
}

// Vectors in flight per thread: the source of NCCL's bandwidth and of its kernels' approximately 90
// registers.
constexpr int kUnroll = 8;

/// One thread's part of a slice: kUnroll vectors from `i` on, one block width apart.
__device__ void move(
    const Step& step,
    const float4* from,
    float4* to,
    float4* user,
    std::size_t at,
    std::size_t user_vectors,
    std::size_t i,
    std::size_t slot_vectors) {
    float4 value[kUnroll];
    float4 own[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
        const std::size_t v = i + k * blockDim.x;
        const bool inside = v < slot_vectors;
        value[k] = own[k] = {0, 0, 0, 0};
        if (inside && step.reads_slot)
            value[k] = __ldcg(from + v);
        if (inside && step.reads_user)
            own[k] = __ldcg(user + (at + v) % user_vectors);
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
        const std::size_t v = i + k * blockDim.x;
        if (v >= slot_vectors)
            continue;
        const float4 sum{
            value[k].x + own[k].x,
            value[k].y + own[k].y,
            value[k].z + own[k].z,
            value[k].w + own[k].w};
        if (step.writes_slot)
            __stcg(to + v, sum);
        if (step.writes_user)
            __stcg(user + (at + v) % user_vectors, sum);
    }
}

__global__ void __launch_bounds__(640) ring_mover_kernel(
    float4* slots,
    float4* user,
    std::size_t slot_vectors,
    std::size_t user_vectors,
    int ranks,
    double ns_per_byte,
    unsigned long long most_ns,
    volatile int* stop,
    BlockCount* counts) {
    float4* const from = slots + 2 * blockIdx.x * slot_vectors;
    float4* const to = from + slot_vectors;
    const unsigned long long start = global_time_ns();
    unsigned long long bytes = 0;
    std::size_t at = blockIdx.x * slot_vectors % user_vectors;
    __shared__ int stopped;
    for (int k = 0;; k = (k + 1) % (2 * ranks - 1)) {
        if (threadIdx.x == 0)
            stopped = *stop || global_time_ns() - start > most_ns;
        __syncthreads();
        if (stopped)
            break;
        const Step step = step_of(k, ranks);
        for (std::size_t i = threadIdx.x; i < slot_vectors; i += kUnroll * blockDim.x)
            move(step, from, to, user, at, user_vectors, i, slot_vectors);
        const int sides = step.reads_slot + step.reads_user + step.writes_slot + step.writes_user;
        bytes += sides * slot_vectors * sizeof(float4);
        at = (at + gridDim.x * slot_vectors) % user_vectors;
        // A block ahead of its rate waits in place, as NCCL's does for its neighbour.
        if (threadIdx.x == 0 && ns_per_byte > 0)
            while (global_time_ns() - start < bytes * ns_per_byte && !*stop)
                __nanosleep(100);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        counts[blockIdx.x] = {bytes, start, global_time_ns()};
}

}  // namespace

struct RingMover {
    RingMoverParams params;
    float4* slots = nullptr;
    float4* user = nullptr;
    BlockCount* counts = nullptr;
    int* stop = nullptr;  ///< in host memory, seen by both
    int* stop_device = nullptr;  ///< its address on the GPU
    cudaStream_t stream = nullptr;
    ~RingMover() {
        cudaFree(slots);
        cudaFree(user);
        cudaFree(counts);
        cudaFreeHost(stop);
    }
};

namespace {

cudaError_t allocate(RingMover& mover) {
    const RingMoverParams& p = mover.params;
    if (p.blocks < 1 || p.blocks > kMostBlocks || p.ranks < 2 || p.threads < 32 ||
        p.threads > 640 || p.slot_bytes % sizeof(float4) != 0 || p.user_bytes < p.slot_bytes)
        return cudaErrorInvalidValue;
    const std::size_t slots = 2 * p.slot_bytes * static_cast<std::size_t>(p.blocks);
    cudaError_t error = cudaMalloc(&mover.slots, slots);
    if (error == cudaSuccess)
        error = cudaMemset(mover.slots, 0, slots);
    if (error == cudaSuccess)
        error = cudaMalloc(&mover.user, p.user_bytes);
    if (error == cudaSuccess)
        error = cudaMemset(mover.user, 0, p.user_bytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&mover.counts, kMostBlocks * sizeof(BlockCount));
    if (error == cudaSuccess)
        error = cudaHostAlloc(&mover.stop, sizeof(int), cudaHostAllocMapped);
    if (error == cudaSuccess)
        error = cudaHostGetDevicePointer(&mover.stop_device, mover.stop, 0);
    if (error == cudaSuccess && p.shared_bytes > 0)
        error = cudaFuncSetAttribute(
            ring_mover_kernel,
            cudaFuncAttributeMaxDynamicSharedMemorySize,
            static_cast<int>(p.shared_bytes));
    return error;
}

cudaError_t read_counts(RingMover& mover, RingMoverReport& report) {
    BlockCount counts[kMostBlocks];
    const cudaError_t error =
        cudaMemcpy(counts, mover.counts, sizeof(counts), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess)
        return error;
    unsigned long long first = counts[0].start_ns;
    unsigned long long last = counts[0].end_ns;
    for (int i = 0; i < mover.params.blocks; ++i) {
        report.bytes += counts[i].bytes;
        first = counts[i].start_ns < first ? counts[i].start_ns : first;
        last = counts[i].end_ns > last ? counts[i].end_ns : last;
    }
    report.seconds = static_cast<double>(last - first) * 1e-9;
    cudaFuncAttributes attributes{};
    const cudaError_t asked = cudaFuncGetAttributes(&attributes, ring_mover_kernel);
    report.registers_per_thread = attributes.numRegs;
    report.static_shared_bytes = attributes.sharedSizeBytes;
    return asked;
}

}  // namespace

extern "C" {

int ring_mover_create(const RingMoverParams* params, RingMover** mover) {
    auto made = std::make_unique<RingMover>();
    made->params = *params;
    const cudaError_t error = allocate(*made);
    if (error == cudaSuccess)
        *mover = made.release();
    return error;
}

int ring_mover_start(RingMover* mover, cudaStream_t stream) {
    const RingMoverParams& p = mover->params;
    *mover->stop = 0;
    mover->stream = stream;
    const double rate_of_block = p.bytes_per_second / p.blocks;
    ring_mover_kernel<<<p.blocks, p.threads, p.shared_bytes, stream>>>(
        mover->slots,
        mover->user,
        p.slot_bytes / sizeof(float4),
        p.user_bytes / sizeof(float4),
        p.ranks,
        rate_of_block > 0 ? 1e9 / rate_of_block : 0,
        static_cast<unsigned long long>(p.most_seconds * 1e9),
        mover->stop_device,
        mover->counts);
    return cudaGetLastError();
}

int ring_mover_stop(RingMover* mover, RingMoverReport* report) {
    *static_cast<volatile int*>(mover->stop) = 1;
    const cudaError_t error = cudaStreamSynchronize(mover->stream);
    *report = {};
    return error == cudaSuccess ? read_counts(*mover, *report) : error;
}

int ring_mover_destroy(RingMover* mover) {
    delete mover;
    return cudaGetLastError();
}

const char* ring_mover_error(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

}  // extern "C"

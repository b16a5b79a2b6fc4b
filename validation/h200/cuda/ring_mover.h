// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// Moves memory on one GPU like the blocks of a ring all-reduce, beside whatever else runs there.
/// A ring step of NCCL (Simple protocol) reads the slot that the left neighbour filled and the
/// user's buffer, and writes the right neighbour's slot. On a single GPU the slot written stands
/// for the one that the left neighbour would fill, so the GPU's memory traffic equals that of one
/// rank: for an N-rank ring, (3N-2)/N bytes read and as many written per payload byte (all_reduce.h
/// and prims_simple.h of NCCL: send; N-2 x receive-reduce-send; receive-reduce-copy-send; N-2 x
/// receive-copy-send; receive).
struct RingMoverParams {
    int blocks = 8;
    int threads = 512;
    int ranks = 8;
    std::size_t shared_bytes = 0;        ///< dynamic, per block: occupies SM resources like NCCL's
    std::size_t slot_bytes = 1U << 20U;  ///< a block's slice: 1 MiB as in NCCL
    std::size_t user_bytes = 64U << 20U;
    double bytes_per_second = 0;  ///< total of reads and writes over all blocks; 0: unlimited
    double most_seconds = 5;      ///< time limit, so that a waiting caller cannot hang
};

struct RingMoverReport {
    double seconds = 0;
    std::uint64_t bytes = 0;  ///< read and written
    int registers_per_thread = 0;
    std::size_t static_shared_bytes = 0;
};

struct RingMover;

extern "C" {
/// Allocates the mover's memory. Every function returns a cudaError_t; 0 means success.
int ring_mover_create(const RingMoverParams* params, RingMover** mover);
/// Launches the kernel on the stream; it runs until ring_mover_stop().
int ring_mover_start(RingMover* mover, cudaStream_t stream);
/// Ends the kernel, waits for it and reports what it moved.
int ring_mover_stop(RingMover* mover, RingMoverReport* report);
int ring_mover_destroy(RingMover* mover);
const char* ring_mover_error(int error);
}

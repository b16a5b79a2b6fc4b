// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

/// Moves memory as the blocks of a ring all-reduce do, on one GPU, beside whatever else runs there.
///
/// A ring step of NCCL (Simple protocol) reads the slot that the left neighbour filled and the
/// user's buffer and writes the right neighbour's slot. On one GPU the slot that is written stands
/// for the one that the left neighbour would fill, so the traffic of the GPU's own memory is that
/// of one rank: per payload byte of an N-rank ring (3N-2)/N read and as much written (all_reduce.h
/// and prims_simple.h of NCCL: send; N-2 x receive-reduce-send; receive-reduce-copy-send; N-2 x
/// receive-copy-send; receive).
struct RingMoverParams {
    int blocks = 8;
    int threads = 512;
    int ranks = 8;
    std::size_t shared_bytes = 0;        ///< dynamic, of a block: holds SM space as NCCL's does
    std::size_t slot_bytes = 1U << 20U;  ///< a block's slice: 1 MiB, as NCCL's
    std::size_t user_bytes = 64U << 20U;
    double bytes_per_second = 0;  ///< read and written, of all blocks; 0: as fast as they can
    double most_seconds = 5;      ///< it ends by itself after that: a caller that waits cannot hang
};

struct RingMoverReport {
    double seconds = 0;
    std::uint64_t bytes = 0;  ///< read and written
    int registers_per_thread = 0;
    std::size_t static_shared_bytes = 0;
};

struct RingMover;

extern "C" {
/// Takes memory for the mover. Every function returns a cudaError_t, and 0 is success.
int ring_mover_create(const RingMoverParams* params, RingMover** mover);
/// Launches the kernel on the stream; it runs until ring_mover_stop().
int ring_mover_start(RingMover* mover, cudaStream_t stream);
/// Ends the kernel, waits for it and says what it moved.
int ring_mover_stop(RingMover* mover, RingMoverReport* report);
int ring_mover_destroy(RingMover* mover);
const char* ring_mover_error(int error);
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <cstdint>

namespace switchfold {

/// Kernel parameters of mixture-of-experts exchanges on a machine's GPUs. A copy_round of zero
/// means unknown.
struct ExpertsParams {
    Time copy_round;
    Time row_overhead;
    Time scale_round;
    Time scan;
    Time poll = nanoseconds(600);
    Bandwidth reduce_rate = gigabytes_per_second(40);
    Time dispatch_start;
    Time combine_start;
    std::uint32_t sms = 20;
    std::uint32_t ring_tokens = 256;
    std::uint32_t dispatch_chunk = 24;
    std::uint32_t combine_chunk = 12;
    std::uint32_t threads = 768;
    std::uint32_t registers_per_thread = 80;
    Bytes shared_memory{196'608};
    Time two_sided_start;
    Time two_sided_row;
    Bandwidth two_sided_rate = gigabytes_per_second(20);
    Bytes fifo_slot = kibibytes(256);
    std::uint32_t fifo_slots = 4;

    static constexpr auto fields() {
        using E = ExpertsParams;
        const Time none(0);
        const Time most = microseconds(1000);
        const Bandwidth slowest(1'000'000);
        const Bandwidth fastest = gigabytes_per_second(10'000);
        return list_of(
            field(
                "copy_round", &E::copy_round,
                "Time of one round of a warp's copy, from its loads of 16 bytes per thread (5 in a "
                "dispatch, 4 in a combine) to their stores; a sum takes one round per 512 bytes.",
                none, most),
            field(
                "row_overhead", &E::row_overhead,
                "Time of a warp for each token that it copies, beside the copy: slot, index, "
                "shuffles.",
                none, most),
            field(
                "scale_round", &E::scale_round,
                "Time of a warp for up to 32 scales of a token, one a thread.", none, most),
            field(
                "scan", &E::scan,
                "deepep_normal: time in which a sender checks whether one token goes to its "
                "receiver.",
                none, most),
            field(
                "poll", &E::poll, "Latency from a flag in local memory to the polling warp.", none,
                most),
            field(
                "reduce_rate", &E::reduce_rate,
                "Limit on the rate at which one SM adds tokens' copies.", slowest, fastest),
            field(
                "dispatch_start", &E::dispatch_start,
                "Per dispatch, in addition to launch_latency: the preceding kernel that clears the "
                "ring buffers and waits for all ranks, and the dispatch's own set-up.",
                none, most),
            field("combine_start", &E::combine_start, "The same for a combine.", none, most),
            field("sms", &E::sms, "deepep_normal: SMs if the policy states none.", 2U, 1024U),
            field(
                "ring_tokens", &E::ring_tokens,
                "deepep_normal: capacity, in tokens, of the ring buffer of each channel and pair.",
                2U, 65'536U),
            field(
                "dispatch_chunk", &E::dispatch_chunk,
                "deepep_normal: tokens that a sender hands over at once if the policy states none.",
                1U, 128U),
            field("combine_chunk", &E::combine_chunk, "The same for a combine.", 1U, 128U),
            field("threads", &E::threads, "Threads of a block.", 32U, 1024U),
            field(
                "registers_per_thread", &E::registers_per_thread, "Registers of the kernels.", 1U,
                255U),
            field(
                "shared_memory", &E::shared_memory, "Shared memory of a block.", Bytes(0),
                mebibytes(1)),
            field(
                "two_sided_start", &E::two_sided_start,
                "trtllm_two_sided: time per exchange, in addition to launch_latency.", none, most),
            field(
                "two_sided_row", &E::two_sided_row,
                "trtllm_two_sided: time per token of the warps of a channel and pair, without its "
                "bytes: gather, flags, waits.",
                none, most),
            field(
                "two_sided_rate", &E::two_sided_rate,
                "trtllm_two_sided: bytes a second that the warps of a channel and pair move.",
                slowest, fastest),
            field(
                "fifo_slot", &E::fifo_slot,
                "trtllm_two_sided: bytes of an entry of the FIFO of a channel and pair.",
                kibibytes(1), mebibytes(64)),
            field(
                "fifo_slots", &E::fifo_slots, "trtllm_two_sided: number of entries of that FIFO.",
                1U, 64U));
    }
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <cstdint>

namespace switchfold {

/// Parameters of kernels on symmetric memory on this machine's GPUs.
struct SymmetricParams {
    Time launch_latency = nanoseconds(3000);
    Time load_latency = nanoseconds(630);
    Time poll = nanoseconds(600);
    std::uint32_t threads = 512;
    std::uint32_t registers_per_thread = 128;
    Bytes shared_memory;
    static constexpr auto fields() {
        return list_of(
            field(
                "launch_latency", &SymmetricParams::launch_latency,
                "Sum of two latencies: from the launch of the kernel to its first instruction that "
                "moves data, and from the last one to the stream's next operation.",
                Time(0), microseconds(1000)),
            field(
                "load_latency", &SymmetricParams::load_latency,
                "Latency from a warp's loads to their data, without links and queues.", Time(0),
                microseconds(1000)),
            field(
                "poll", &SymmetricParams::poll,
                "Latency from a counter or flag in memory to the polling thread.", Time(0),
                microseconds(1000)),
            field("threads", &SymmetricParams::threads, "Threads of a block.", 128U, 1024U),
            field(
                "registers_per_thread", &SymmetricParams::registers_per_thread,
                "Registers of the kernel.", 1U, 255U),
            field(
                "shared_memory", &SymmetricParams::shared_memory, "Shared memory of a block.",
                Bytes(0), mebibytes(1)));
    }
};

}  // namespace switchfold

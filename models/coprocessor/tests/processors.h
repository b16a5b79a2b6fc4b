// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"

namespace switchfold {

/// Parameters of a Xeon Phi, rounded where that keeps closed forms short.
inline ProcessorParams many_core_processor() {
    ProcessorParams p;
    p.name = "many cores";
    p.cores = 60;
    p.threads_per_core = 4;
    p.clock = Frequency(1'000'000'000);
    p.simd_lanes = 16;
    p.vector_registers = 32;
    p.issue_interval = 2;
    p.step_slots = 2;
    p.sigmoid_slots = 5;
    p.cache.private_capacity = kibibytes(512);
    p.cache.private_cycles_per_line = 3;
    p.cache.remote_latency = nanoseconds(250);
    p.cache.ring_bytes_per_cycle = 64;
    p.cache.atomic_cycles = 25;
    p.memory.capacity = mebibytes(8192);
    p.memory.peak = gigabytes_per_second(320);
    p.memory.channels = 8;
    p.memory.banks = 128;
    p.memory.row_open = nanoseconds(4);
    p.memory.latency = nanoseconds(640);
    p.memory.lines_of_thread = 30;
    p.memory.lines_of_core = 38;
    p.region_hop = nanoseconds(600);
    p.context_switch = microseconds(10);
    p.library = {0.9, 120, 32};
    return p;
}

}  // namespace switchfold

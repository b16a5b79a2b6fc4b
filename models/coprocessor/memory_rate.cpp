// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/memory_rate.h"

#include <algorithm>

namespace switchfold {

double memory_rate(const ProcessorParams& processor, double streams) {
    const ProcessorMemoryParams& memory = processor.memory;
    const auto peak = static_cast<double>(memory.peak.count());
    const double channels = memory.channels;
    const double line = processor.cache.line;
    const double banks = memory.banks;
    const double opened = streams > banks ? 1 - banks / streams : 0;
    const double line_time = line * channels / peak + opened * to_seconds(memory.row_open);
    return std::min(peak * memory.sustained, channels * line / line_time);
}

double ring_rate(const ProcessorParams& processor) {
    constexpr double kSideBySide = 8;
    return kSideBySide * processor.cache.ring_bytes_per_cycle *
           static_cast<double>(processor.clock.count());
}

LineSeconds line_seconds(
    const ProcessorParams& processor, double lines_of_thread, double threads, Time latency) {
    const double wait = to_seconds(latency);
    return {
        lines_of_thread * wait / processor.memory.lines_of_thread,
        lines_of_thread * threads * wait / processor.memory.lines_of_core};
}

}  // namespace switchfold

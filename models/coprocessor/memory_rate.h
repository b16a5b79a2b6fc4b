// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"

namespace switchfold {

/// Bytes per second that all channels deliver to `streams` concurrent streams. Streams in excess of
/// the banks close each other's rows: with S streams on B banks, a share 1 - B/S of the lines opens
/// a row.
[[nodiscard]] double memory_rate(const ProcessorParams& processor, double streams);

/// Bytes per second that the ring carries. On average a line occupies a quarter of the ring's
/// links, and there are two directions, so eight lines travel concurrently for any number of cores.
[[nodiscard]] double ring_rate(const ProcessorParams& processor);

/// Seconds for lines to reach one thread, and all threads of a core, at a given latency (Little's
/// law).
struct LineSeconds {
    double of_thread = 0;
    double of_core = 0;
};
[[nodiscard]] LineSeconds line_seconds(
    const ProcessorParams& processor, double lines_of_thread, double threads, Time latency);

}  // namespace switchfold

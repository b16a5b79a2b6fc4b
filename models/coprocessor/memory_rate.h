// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"

namespace switchfold {

/// What all channels together deliver to so many streams, bytes a second. Streams beyond the banks
/// close each other's rows: of S streams on B banks a share 1 - B/S of the lines opens one.
[[nodiscard]] double memory_rate(const ProcessorParams& processor, double streams);

/// What the ring carries, bytes a second: on average a line takes a quarter of the ring's links,
/// and there are two directions, so eight lines travel side by side whatever the number of cores.
[[nodiscard]] double ring_rate(const ProcessorParams& processor);

/// Seconds that lines take one thread, and all threads of a core, at a latency: Little's law.
struct LineSeconds {
    double of_thread = 0;
    double of_core = 0;
};
[[nodiscard]] LineSeconds line_seconds(
    const ProcessorParams& processor, double lines_of_thread, double threads, Time latency);

}  // namespace switchfold

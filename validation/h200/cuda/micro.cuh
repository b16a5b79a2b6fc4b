// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "measure.cuh"

/// Each prints its measurements as JSON, one object a line, and throws std::runtime_error if CUDA
/// refuses something.
void measure_bandwidth();  ///< of HBM and L2, by the number of blocks
void measure_latency();    ///< of launches, events and waiting
void measure_residency();  ///< which blocks find room beside resident ones

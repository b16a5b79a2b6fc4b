// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"
#include "models/coprocessor/program/parallel_program.h"
#include "models/coprocessor/thread_layout.h"

namespace switchfold {

/// Seconds in which all teams add to one array: each line moves to the next team in a round trip on
/// the ring, and a thread has one atomic operation in flight.
[[nodiscard]] double sum_seconds(
    const offload::AtomicSum& sum, const ProcessorParams& processor, const ThreadLayout& layout);

/// Seconds in which copies are added by all threads, so many at once as the layout says (2:
/// pairwise), with a barrier before each level.
[[nodiscard]] double sum_seconds(
    const offload::TreeSum& sum, const ProcessorParams& processor, const ThreadLayout& layout);

}  // namespace switchfold

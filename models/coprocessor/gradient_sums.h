// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"
#include "models/coprocessor/thread_layout.h"
#include "workloads/offload/parallel_program.h"

namespace switchfold {

/// All teams add to one array: each line goes to the next team in a round trip on the ring, and a
/// thread has one atomic operation under way. s.
[[nodiscard]] double sum_seconds(
    const offload::AtomicSum& sum, const ProcessorParams& processor, const ThreadLayout& layout);

/// Copies are added pairwise, by all threads at each level, with a barrier after each. s.
[[nodiscard]] double sum_seconds(
    const offload::TreeSum& sum, const ProcessorParams& processor, const ThreadLayout& layout);

}  // namespace switchfold

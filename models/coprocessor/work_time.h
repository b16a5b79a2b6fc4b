// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"
#include "models/coprocessor/region_clock.h"
#include "models/coprocessor/thread_layout.h"
#include "workloads/offload/parallel_program.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// The cores' stages of a loop: those with a row more than the others are a group of their own.
[[nodiscard]] std::vector<CoreGroup> groups_of(
    const offload::ProductLoop& loop, const ProcessorParams& processor, const ThreadLayout& layout);
[[nodiscard]] std::vector<CoreGroup> groups_of(
    const offload::ElementLoop& loop, const ProcessorParams& processor, const ThreadLayout& layout);
/// Of a library's kernel on tiles that are packed.
[[nodiscard]] std::vector<CoreGroup> groups_of(
    const offload::LibraryProduct& product,
    const ProcessorParams& processor,
    const ThreadLayout& layout);
/// The walk that packs the operands and reads and writes the result.
[[nodiscard]] offload::ElementLoop packing_of(const offload::LibraryProduct& product);

/// Share of its cycles in which a core with so many threads issues vector instructions.
[[nodiscard]] double issue_share(const ProcessorParams& processor, std::uint32_t threads);

}  // namespace switchfold

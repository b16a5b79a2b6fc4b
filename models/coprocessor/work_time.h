// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"
#include "models/coprocessor/program/parallel_program.h"
#include "models/coprocessor/region_clock.h"
#include "models/coprocessor/thread_layout.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// The cores' stages for a loop: cores with an additional row form a separate group.
[[nodiscard]] std::vector<CoreGroup> groups_of(
    const offload::ProductLoop& loop, const ProcessorParams& processor, const ThreadLayout& layout);
[[nodiscard]] std::vector<CoreGroup> groups_of(
    const offload::ElementLoop& loop, const ProcessorParams& processor, const ThreadLayout& layout);
/// Stages for a library's kernel on packed tiles.
[[nodiscard]] std::vector<CoreGroup> groups_of(
    const offload::LibraryProduct& product, const ProcessorParams& processor,
    const ThreadLayout& layout);
/// The pass that packs the operands and reads and writes the result.
[[nodiscard]] offload::ElementLoop packing_of(const offload::LibraryProduct& product);

/// Share of cycles in which a core with this many threads issues vector instructions.
[[nodiscard]] double issue_share(const ProcessorParams& processor, std::uint32_t threads);

}  // namespace switchfold

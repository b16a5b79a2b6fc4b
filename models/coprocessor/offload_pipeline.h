// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// What goes over the link and is computed for one chunk.
struct OffloadChunk {
    Time in;
    Time compute;
    Time out;
};

struct OffloadOptions {
    std::uint32_t buffers = 2;  ///< chunks that have room: being filled, at work, or being emptied
    bool hidden = true;         ///< transfers run beside compute
};

/// When a chunk's parts begin and end.
struct OffloadTimes {
    Time in_begin;
    Time in_end;
    Time compute_begin;
    Time compute_end;
    Time out_begin;
    Time out_end;
};

/// One engine a direction and one that computes, each chunk in order. A chunk needs a buffer from
/// the begin of its way in to the end of its way out. Throws std::invalid_argument without buffers.
[[nodiscard]] std::vector<OffloadTimes>
run_offload(const std::vector<OffloadChunk>& chunks, const OffloadOptions& options);

}  // namespace switchfold

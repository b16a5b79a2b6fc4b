// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Transfers and compute of one chunk.
struct OffloadChunk {
    Time in;
    Time compute;
    Time out;
};

struct OffloadOptions {
    std::uint32_t buffers = 2;  ///< chunks with a buffer: being filled, processed or emptied
    bool hidden = true;         ///< transfers run beside compute
};

/// Begin and end of a chunk's phases.
struct OffloadTimes {
    Time in_begin;
    Time in_end;
    Time compute_begin;
    Time compute_end;
    Time out_begin;
    Time out_end;
};

/// One engine per direction and one that computes, each processing chunks in order. A chunk
/// occupies a buffer from the begin of its inbound transfer to the end of its outbound one. Throws
/// std::invalid_argument without buffers.
[[nodiscard]] std::vector<OffloadTimes>
run_offload(const std::vector<OffloadChunk>& chunks, const OffloadOptions& options);

}  // namespace switchfold

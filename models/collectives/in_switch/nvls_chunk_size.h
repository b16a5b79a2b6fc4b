// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/in_switch/nvls_chunks.h"
#include "models/collectives/running_collective.h"

#include <cstdint>

namespace switchfold {

// How collectives in which heads pass sums on, between machines or to a network that reduces, cut
// their buffer. Of a spec: its kind, bytes, choice and layout.

/// Chunk of one head: NCCL enqueue.cc:2258-2285 for NVLS and, across machines, NVLS tree. It has no
/// ring over the heads.
[[nodiscard]] std::uint64_t
nvls_chunk_size(const CollectiveParams& params, const CollectiveSpec& spec);
[[nodiscard]] NvlsChunks nvls_chunks_of(const CollectiveParams& params, const CollectiveSpec& spec);

}  // namespace switchfold

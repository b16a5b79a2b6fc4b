// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/nvls_chunk_size.h"

#include "models/collectives/in_switch/in_switch_steps.h"

#include <algorithm>

namespace switchfold {

std::uint64_t nvls_chunk_size(const CollectiveParams& params, const CollectiveSpec& spec) {
    const std::size_t machines = spec.layout.machines.size();
    const std::uint64_t ways =
        std::uint64_t{spec.choice.channels} * spec.layout.machines.front().size();
    const std::uint64_t bytes = spec.bytes.count();
    if (machines == 1 || spec.choice.algorithm == Algorithm::kCollnet)
        return nvls_chunk(params.in_switch_chunk, ways, bytes);
    std::uint64_t chunk = params.in_switch_chunk.count();
    const auto limit = [&](std::uint64_t chunks, std::uint64_t most) {
        if (bytes < chunks * ways * chunk)
            chunk = std::min(chunk, most);
    };
    if (spec.choice.algorithm == Algorithm::kInSwitchRing) {
        // A ring cuts its piece once more, and every cut costs the proxy a post.
        const std::uint64_t least = chunk / 4;
        chunk *= machines;
        while (chunk > least && bytes < 4 * ways * chunk)
            chunk /= 2;
    } else {
        constexpr std::size_t kMany = 4;
        if (machines >= kMany)
            chunk = std::min(chunk, params.in_switch_tree_chunk.count());
        limit(32, 256 << 10);
        limit(16, 128 << 10);
        limit(4, 64 << 10);
        limit(1, 32 << 10);
    }
    return std::max(chunk / kGrain * kGrain, kGrain);
}

NvlsChunks nvls_chunks_of(const CollectiveParams& params, const CollectiveSpec& spec) {
    const auto heads = static_cast<std::uint32_t>(spec.layout.machines.front().size());
    const std::uint64_t chunk = nvls_chunk_size(params, spec);
    if (spec.kind == CollectiveKind::kAllReduce)
        return NvlsChunks::contiguous(spec.bytes.count(), spec.choice.channels, heads, chunk);
    return NvlsChunks::blocks(spec.share(), spec.choice.channels, heads, chunk);
}

}  // namespace switchfold

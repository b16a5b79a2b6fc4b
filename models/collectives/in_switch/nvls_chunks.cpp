// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/nvls_chunks.h"

#include <algorithm>

namespace switchfold {

void NvlsChunks::cut(std::uint64_t bytes, std::uint32_t channels, std::uint64_t grain) {
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
        parts_.push_back(part_of_channel(bytes, channels, channel, grain));
        loops_.push_back((parts_.back().bytes + loop_span() - 1) / loop_span());
    }
    skipped_.assign(channels, 0);
}

NvlsChunks NvlsChunks::contiguous(
    std::uint64_t bytes, std::uint32_t channels, std::uint32_t heads, std::uint64_t chunk,
    std::uint64_t align, std::uint64_t grain) {
    NvlsChunks pieces(heads, chunk, 0);
    pieces.align_ = align;
    pieces.cut(bytes, channels, grain);
    return pieces;
}

NvlsChunks NvlsChunks::blocks(
    std::uint64_t stride, std::uint32_t channels, std::uint32_t heads, std::uint64_t chunk) {
    NvlsChunks pieces(heads, chunk, std::max<std::uint64_t>(stride, 1));
    pieces.cut(stride, channels);
    return pieces;
}

Part NvlsChunks::piece(std::uint32_t channel, std::uint64_t loop, std::uint32_t head) const {
    const Part& part = parts_[channel];
    const std::uint64_t base = before(channel, loop);
    const std::uint64_t left = part.bytes - base;
    if (stride_ != 0)
        return {head * stride_ + part.begin + base, std::min(chunk_, left)};
    // The last loop shares what is left evenly.
    const std::uint64_t even = (left + heads_ * align_ - 1) / (heads_ * align_) * align_;
    const std::uint64_t size = std::min(chunk_, even);
    const std::uint64_t begin = std::min(left, head * size);
    return {part.begin + base + begin, std::min(size, left - begin)};
}

std::uint32_t NvlsChunks::working_heads(std::uint32_t channel, std::uint64_t loop) const {
    const std::uint64_t size = piece(channel, loop, 0).bytes;
    const std::uint64_t wanted = (loop_bytes(channel, loop) + size - 1) / size;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(heads_, wanted));
}

std::uint64_t NvlsChunks::loop_bytes(std::uint32_t channel, std::uint64_t loop) const {
    const std::uint64_t left = parts_[channel].bytes - before(channel, loop);
    return stride_ != 0 ? heads_ * std::min(chunk_, left)
                        : std::min<std::uint64_t>(heads_ * chunk_, left);
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/block_draw.h"

#include <algorithm>

namespace switchfold {

namespace {

/// Bytes that a thread moves for each that it loads. It waits for loads only: stores are posted. An
/// A100's eighth of threads reads 323 GB/s, and moves 579 GB/s where it stores what it reads (RRZE
/// gpu-stream); a larger share of stores is not measured.
double moved_for_a_load(Bytes read, Bytes written) {
    constexpr double kMost = 2;
    const auto loaded = static_cast<double>(read.count());
    const double all = loaded + static_cast<double>(written.count());
    return loaded > 0 ? std::min(kMost, all / loaded) : all > 0 ? kMost : 1;
}

}  // namespace

double draw_of_block(const BlockShape& block, Bytes read, Bytes written, const GpuParams& gpu) {
    // Never 0, so that what is in flight is drawn at a finite rate.
    const double latency =
        to_seconds(std::max(gpu.memory.hbm.latency + gpu.memory.l2.latency, Time(1)));
    const double slower =
        gpu.draw_latency == Time(0) ? 1.0 : to_seconds(gpu.draw_latency) / latency;
    return block.threads * static_cast<double>(gpu.draw_per_thread.count()) * slower *
               moved_for_a_load(read, written) +
           static_cast<double>(block.shared_memory.count()) / latency;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/memory/hbm_timing.h"

#include <algorithm>

namespace switchfold {

double achievable_bytes_per_second(const HbmParams& params, double write_share) {
    const double peak = static_cast<double>(params.peak.count());
    const double channel = peak / params.channels;
    const double row_bytes = static_cast<double>(params.row.count());
    const double row_transfer = row_bytes / channel;
    // A bank delivers one row per row cycle; all banks together may still be slower than the bus.
    const double row_time =
        std::max(row_transfer, to_seconds(params.row_cycle) / static_cast<double>(params.banks));
    double seconds_per_byte = row_time / row_bytes;
    // For any mix, each batch of the rarer direction costs one turnaround.
    const double rare = std::min(write_share, 1.0 - write_share);
    seconds_per_byte +=
        rare / static_cast<double>(params.batch.count()) * to_seconds(params.turnaround);
    const double refresh =
        1.0 - to_seconds(params.refresh_time) / to_seconds(params.refresh_interval);
    return params.channels / seconds_per_byte * refresh;
}

}  // namespace switchfold

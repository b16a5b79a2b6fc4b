// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <cstdint>

namespace switchfold {

/// DRAM channels: timings that keep them from their peak.
struct HbmParams {
    Bandwidth peak = gigabytes_per_second(1555);
    std::uint32_t channels = 40;
    std::uint32_t banks = 16;
    Bytes row{1024};
    Bytes burst{64};
    Time row_cycle = nanoseconds(45);
    Time turnaround = nanoseconds(15);
    Bytes batch = kibibytes(4);
    Time refresh_interval = nanoseconds(3900);
    Time refresh_time = nanoseconds(130);
    Time latency = nanoseconds(365);

    static constexpr auto fields() {
        return list_of(
            field(
                "peak", &HbmParams::peak, "All channels' data rate.", Bandwidth(1'000'000'000),
                gigabytes_per_second(100'000)),
            field(
                "channels", &HbmParams::channels, "Channels; addresses are interleaved over them.",
                1U, 1024U),
            field(
                "banks", &HbmParams::banks, "Banks of a channel that work at the same time.", 1U,
                256U),
            field(
                "row", &HbmParams::row, "Bytes used per activation of a row.", Bytes(32),
                Bytes(65'536)),
            field("burst", &HbmParams::burst, "Bytes of one burst.", Bytes(16), Bytes(1024)),
            field(
                "row_cycle", &HbmParams::row_cycle,
                "tRC: least time between activations of two rows of the same bank.", Time(0),
                microseconds(1)),
            field(
                "turnaround", &HbmParams::turnaround,
                "Idle time of the bus for a turnaround from reads to writes and back.", Time(0),
                microseconds(1)),
            field(
                "batch", &HbmParams::batch, "Bytes that a channel writes before it reads again.",
                Bytes(64), mebibytes(1)),
            field(
                "refresh_interval", &HbmParams::refresh_interval, "tREFI.", nanoseconds(100),
                microseconds(100)),
            field(
                "refresh_time", &HbmParams::refresh_time,
                "tRFC of the banks that cannot be hidden.", Time(0), microseconds(2)),
            field(
                "latency", &HbmParams::latency, "Unloaded latency from an L2 miss to its data.",
                Time(0), microseconds(10)));
    }
};

/// Bandwidth that the channels reach if `write_share` of the bytes are writes (0 to 1) and all
/// banks are busy: row activations are hidden as far as the banks suffice, each batch of writes
/// turns the bus around, and refresh takes its share.
[[nodiscard]] double achievable_bytes_per_second(const HbmParams& params, double write_share);

}  // namespace switchfold

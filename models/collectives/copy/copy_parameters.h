// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"

#include <cstdint>

namespace switchfold {

/// Parameters of copy engines that run collectives between GPUs.
struct CopyCollectiveParams {
    std::uint32_t engines = 8;
    Bandwidth rate = gigabytes_per_second(400);
    Bytes outstanding = kibibytes(512);
    Time start = nanoseconds(2500);
    Time signal = nanoseconds(1500);
    static constexpr auto fields() {
        return list_of(
            field(
                "engines", &CopyCollectiveParams::engines,
                "Copies between GPUs that run at the same time.", 1U, 64U),
            field(
                "rate", &CopyCollectiveParams::rate, "Rate limit of one engine.",
                Bandwidth(1'000'000), gigabytes_per_second(10'000)),
            field(
                "outstanding", &CopyCollectiveParams::outstanding,
                "Limit on bytes that an engine has read but not yet put on the link.", Bytes(128),
                mebibytes(64)),
            field(
                "start", &CopyCollectiveParams::start,
                "Latency from the stream's turn to an engine's first bytes, in which the batch is "
                "fetched and started.",
                Time(0), microseconds(1000)),
            field(
                "signal", &CopyCollectiveParams::signal,
                "Latency from a flag in memory to the stream's operation that waits for it.",
                Time(0), microseconds(1000)));
    }
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "interconnect/packet.h"

#include <cstdint>

namespace switchfold {

/// One direction of a bundle of lanes.
struct LinkParams {
    Bandwidth lane_bandwidth = gigabytes_per_second(25);
    std::uint32_t efficiency_ppm = 1'000'000;
    Time latency = nanoseconds(200);
    Bytes buffer_per_lane = kibibytes(32);
    double duplex = 1;
    PacketFormat format;

    /// Rate of `lanes` lanes, after encoding and framing but including packet headers.
    [[nodiscard]] Bandwidth usable_bandwidth(std::uint32_t lanes) const {
        constexpr std::uint32_t kMillion = 1'000'000;
        // 80 bits for the largest allowed parameter values.
        const auto scaled =
            static_cast<unsigned __int128>((lane_bandwidth * lanes).count()) * efficiency_ppm;
        return Bandwidth(static_cast<std::uint64_t>(scaled / kMillion));
    }

    static constexpr auto fields() {
        return list_of(
            field(
                "lane_bandwidth", &LinkParams::lane_bandwidth,
                "Line rate of one lane, one direction.", Bandwidth(1'000'000),
                gigabytes_per_second(10'000)),
            field(
                "efficiency_ppm", &LinkParams::efficiency_ppm,
                "Share of the line rate left after encoding and link-layer framing, in millionths.",
                1'000U, 1'000'000U),
            field(
                "latency", &LinkParams::latency,
                "Latency from first bit in to first bit out, including wire and both transceivers.",
                Time(0), microseconds(10'000)),
            field(
                "buffer_per_lane", &LinkParams::buffer_per_lane,
                "Input buffer at the far end for each lane and virtual channel; it backs the "
                "credits.",
                Bytes(256), mebibytes(1024)),
            field(
                "duplex", &LinkParams::duplex,
                "Combined rate of simultaneous traffic in both directions, as a share of the sum "
                "of both rates; below 1, traffic in one direction takes time from the other.",
                0.5, 1.0),
            field("format", &LinkParams::format, "Packet format."));
    }
};

}  // namespace switchfold

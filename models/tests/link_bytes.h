// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/shortcuts/traffic_counts.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Payload that all links have carried.
inline std::uint64_t bytes_on_links(const Fabric& fabric) {
    std::uint64_t bytes = 0;
    for (const auto& link : fabric.links())
        bytes += link->statistics().payload_bytes;
    return bytes;
}

/// Counts the bytes that all links carry, and those that were left out.
struct LinkBytes final : TrafficCounts {
    explicit LinkBytes(Fabric& f) : fabric(f) {}
    [[nodiscard]] std::vector<std::uint64_t> simulated() const override { return {carried()}; }
    [[nodiscard]] TrafficPart part_of(const std::vector<std::uint32_t>& links) const override {
        TrafficPart part;
        part.links = links;
        part.places = {0};
        return part;
    }
    [[nodiscard]] std::vector<std::uint64_t> simulated_in(const TrafficPart& part) const override {
        std::uint64_t bytes = 0;
        for (const std::uint32_t link : part.links)
            bytes += fabric.links()[link]->statistics().payload_bytes;
        return {bytes};
    }
    [[nodiscard]] std::uint64_t carried() const { return bytes_on_links(fabric); }
    [[nodiscard]] std::uint64_t all_bytes() const {
        return static_cast<std::uint64_t>(all().front());
    }
    Fabric& fabric;
};

}  // namespace switchfold

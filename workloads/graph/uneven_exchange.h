// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Who sends how much to whom in one all-to-all whose parts differ.
struct UnevenExchange {
    /// Of a pair that no traced rank states.
    static constexpr std::uint64_t kUnknown = UINT64_MAX;

    std::uint32_t ranks = 0;
    /// Bytes from the group's i-th rank to its j-th at i * ranks + j.
    std::vector<std::uint64_t> bytes;

    /// All pairs are unknown.
    [[nodiscard]] static UnevenExchange of(std::uint32_t ranks) {
        return {ranks, std::vector<std::uint64_t>(std::size_t{ranks} * ranks, kUnknown)};
    }
    [[nodiscard]] std::uint64_t& at(std::uint32_t from, std::uint32_t to) {
        return bytes[std::size_t{from} * ranks + to];
    }
    [[nodiscard]] std::uint64_t at(std::uint32_t from, std::uint32_t to) const {
        return bytes[std::size_t{from} * ranks + to];
    }
    /// Bytes that a rank sends, its own part included.
    [[nodiscard]] Bytes sent_by(std::uint32_t rank) const {
        Bytes sum;
        for (std::uint32_t to = 0; to < ranks; ++to)
            sum += Bytes(at(rank, to) == kUnknown ? 0 : at(rank, to));
        return sum;
    }
    bool operator==(const UnevenExchange&) const = default;
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>

/// Records of GPU activity. records.h describes how records are declared.
namespace switchfold::capture {

struct Device {
    static constexpr std::uint16_t kTag = 3;
    std::uint32_t id = 0;
    std::string name;
    std::uint32_t compute_major = 0;
    std::uint32_t compute_minor = 0;
    std::uint32_t sms = 0;
    std::uint32_t l2_bytes = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t memory_bandwidth = 0;  ///< bytes per second, according to the driver
    std::uint32_t core_clock_khz = 0;
    std::string driver;
    constexpr auto fields() {
        return std::tie(
            id, name, compute_major, compute_minor, sms, l2_bytes, memory_bytes, memory_bandwidth,
            core_clock_khz, driver);
    }
};

struct Kernel {
    static constexpr std::uint16_t kTag = 4;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t correlation = 0;
    std::uint64_t graph_node = 0;  ///< 0: not launched by a CUDA graph
    std::uint32_t name = 0;
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::array<std::uint32_t, 3> cluster{0, 0, 0};
    std::uint32_t registers_per_thread = 0;
    std::uint32_t static_shared = 0;   ///< bytes per block
    std::uint32_t dynamic_shared = 0;  ///< bytes per block
    constexpr auto fields() {
        return std::tie(
            start, end, device, context, stream, correlation, graph_node, name, grid, block,
            cluster, registers_per_thread, static_shared, dynamic_shared);
    }
};

enum class CopyDirection : std::uint8_t {
    kOther,
    kHostToDevice,
    kDeviceToHost,
    kDeviceToDevice,
    kPeer,
    kMemset,
};

/// A copy; a memset is a copy without a source.
struct Copy {
    static constexpr std::uint16_t kTag = 5;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t correlation = 0;
    std::uint64_t graph_node = 0;
    std::uint64_t bytes = 0;
    CopyDirection direction = CopyDirection::kOther;
    std::uint32_t peer = 0;  ///< device, for kPeer
    constexpr auto fields() {
        return std::tie(
            start, end, device, context, stream, correlation, graph_node, bytes, direction, peer);
    }
};

/// Hardware counters of one kernel from a pass with counters. `ordinal` counts kernels of equal
/// name, grid and block in launch order, from 0.
struct Counters {
    static constexpr std::uint16_t kTag = 14;
    std::uint32_t name = 0;
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t ordinal = 0;
    std::uint64_t dram_read = 0;     ///< bytes
    std::uint64_t dram_written = 0;  ///< bytes
    constexpr auto fields() {
        return std::tie(name, grid, block, ordinal, dram_read, dram_written);
    }
};

}  // namespace switchfold::capture

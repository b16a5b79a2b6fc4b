// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>

/// Records of the program's calls to CUDA and NVTX. records.h describes how records are declared.
namespace switchfold::capture {

/// A call of the runtime or driver API.
struct Call {
    static constexpr std::uint16_t kTag = 6;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t thread = 0;  ///< the operating system's thread id
    std::uint32_t correlation = 0;
    std::uint32_t name = 0;
    bool driver = false;
    std::uint32_t result = 0;
    constexpr auto fields() {
        return std::tie(start, end, thread, correlation, name, driver, result);
    }
};

/// A framework's id for everything launched between its push and its pop.
struct ExternalCorrelation {
    static constexpr std::uint16_t kTag = 7;
    std::uint32_t correlation = 0;
    std::uint32_t kind = 0;
    std::uint64_t external = 0;
    constexpr auto fields() { return std::tie(correlation, kind, external); }
};

/// One end of an NVTX range, or a mark. Both ends of a range share an id; only the first is sure to
/// carry the name.
struct Marker {
    static constexpr std::uint16_t kTag = 8;
    enum class Edge : std::uint8_t { kMark, kStart, kEnd };
    std::uint64_t time = 0;
    std::uint32_t id = 0;
    Edge edge = Edge::kMark;
    std::uint32_t thread = 0;
    std::uint32_t name = 0;
    std::uint32_t domain = 0;
    constexpr auto fields() { return std::tie(time, id, edge, thread, name, domain); }
};

enum class SynchronizationKind : std::uint8_t { kOther, kEvent, kStreamWait, kStream, kContext };

struct Synchronization {
    static constexpr std::uint16_t kTag = 9;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t correlation = 0;
    SynchronizationKind kind = SynchronizationKind::kOther;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t event = 0;
    std::uint64_t event_record = 0;  ///< index of the event's record that is waited for
    constexpr auto fields() {
        return std::tie(start, end, correlation, kind, context, stream, event, event_record);
    }
};

/// An event recorded on a stream.
struct EventRecord {
    static constexpr std::uint16_t kTag = 10;
    std::uint32_t correlation = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t event = 0;
    std::uint64_t event_record = 0;
    constexpr auto fields() { return std::tie(correlation, context, stream, event, event_record); }
};

struct StreamInfo {
    static constexpr std::uint16_t kTag = 11;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t priority = 0;
    constexpr auto fields() { return std::tie(context, stream, priority); }
};

}  // namespace switchfold::capture

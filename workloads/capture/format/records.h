// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <variant>

/// What a capture file holds, record by record. Each record lists its fields once, in fields();
/// the encoder and the decoder follow that list, so a field is added at its end and nowhere else.
/// Times are ns of the clock that Session anchors, names are indices of Name records.
namespace switchfold::capture {

/// Of the layout of records. Files of another version are refused.
constexpr std::uint32_t kFormatVersion = 1;

/// The first record of a file: whose it is and what its clock means.
struct Session {
    static constexpr std::uint16_t kTag = 1;
    std::uint32_t version = kFormatVersion;
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
    std::uint32_t process = 0;
    std::uint64_t clock_ns = 0;  ///< CLOCK_MONOTONIC at the file's start
    std::uint64_t unix_ns = 0;   ///< CLOCK_REALTIME at the same moment
    bool counters = false;       ///< a second pass: kernels ran one at a time, times mean nothing
    std::string host;
    std::string command;
    constexpr auto fields() {
        return std::tie(
            version, rank, world_size, process, clock_ns, unix_ns, counters, host, command);
    }
};

/// A string that later records point to by `id`; ids count from 1 in the order of the file.
struct Name {
    static constexpr std::uint16_t kTag = 2;
    std::uint32_t id = 0;
    std::string text;
    constexpr auto fields() { return std::tie(id, text); }
};

struct Device {
    static constexpr std::uint16_t kTag = 3;
    std::uint32_t id = 0;
    std::string name;
    std::uint32_t compute_major = 0;
    std::uint32_t compute_minor = 0;
    std::uint32_t sms = 0;
    std::uint32_t l2_bytes = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t memory_bandwidth = 0;  ///< bytes/s, as the driver states it
    std::uint32_t core_clock_khz = 0;
    std::string driver;
    constexpr auto fields() {
        return std::tie(
            id,
            name,
            compute_major,
            compute_minor,
            sms,
            l2_bytes,
            memory_bytes,
            memory_bandwidth,
            core_clock_khz,
            driver);
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
    std::uint32_t static_shared = 0;   ///< bytes of a block
    std::uint32_t dynamic_shared = 0;  ///< bytes of a block
    constexpr auto fields() {
        return std::tie(
            start,
            end,
            device,
            context,
            stream,
            correlation,
            graph_node,
            name,
            grid,
            block,
            cluster,
            registers_per_thread,
            static_shared,
            dynamic_shared);
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

/// A copy, or a memset as a copy from nowhere.
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

/// A call of the runtime or driver API.
struct Call {
    static constexpr std::uint16_t kTag = 6;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t thread = 0;  ///< the system's thread id
    std::uint32_t correlation = 0;
    std::uint32_t name = 0;
    bool driver = false;
    std::uint32_t result = 0;
    constexpr auto fields() {
        return std::tie(start, end, thread, correlation, name, driver, result);
    }
};

/// A framework's id for all that is launched between a push and a pop of it.
struct ExternalCorrelation {
    static constexpr std::uint16_t kTag = 7;
    std::uint32_t correlation = 0;
    std::uint32_t kind = 0;
    std::uint64_t external = 0;
    constexpr auto fields() { return std::tie(correlation, kind, external); }
};

/// One end of an NVTX range, or a mark. The two ends of a range share an id; only the first is
/// sure to carry the name.
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
    std::uint64_t event_record = 0;  ///< which record of the event is waited for
    constexpr auto fields() {
        return std::tie(start, end, correlation, kind, context, stream, event, event_record);
    }
};

/// An event was recorded on a stream.
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

/// A communicator, as the NCCL profiler interface tells of it.
struct Communicator {
    static constexpr std::uint16_t kTag = 12;
    std::uint64_t hash = 0;
    std::string name;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;  ///< 0: the interface's version does not say
    std::uint32_t nodes = 0;
    constexpr auto fields() { return std::tie(hash, name, rank, ranks, nodes); }
};

/// A call of NCCL, told right behind the launch of its kernel and on the same thread.
struct NcclCall {
    static constexpr std::uint16_t kTag = 13;
    std::uint64_t start = 0;
    std::uint32_t thread = 0;
    std::uint64_t communicator = 0;  ///< hash
    std::uint64_t sequence = 0;      ///< NCCL counts each kind of call of a communicator on its own
    std::string function;            ///< "AllReduce", "Send", ...
    std::string datatype;            ///< "ncclFloat32", ...
    std::uint64_t count = 0;         ///< elements
    std::uint32_t root_or_peer = 0;
    std::uint32_t channels = 0;
    std::uint32_t warps = 0;
    std::string algorithm;  ///< "RING", "TREE", "NVLS", ... or empty
    std::string protocol;   ///< "LL", "LL128", "SIMPLE" or empty
    constexpr auto fields() {
        return std::tie(
            start,
            thread,
            communicator,
            sequence,
            function,
            datatype,
            count,
            root_or_peer,
            channels,
            warps,
            algorithm,
            protocol);
    }
};

/// Hardware counters of one kernel of a pass with counters. `ordinal` counts the kernels of the
/// same name, grid and block in the order of their launches, from 0.
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

/// Something that the capture could not record.
struct Lost {
    static constexpr std::uint16_t kTag = 15;
    std::uint64_t count = 0;
    std::string what;
    constexpr auto fields() { return std::tie(count, what); }
};

/// The process ended in order; a file without it was cut off.
struct End {
    static constexpr std::uint16_t kTag = 16;
    std::uint64_t clock_ns = 0;
    constexpr auto fields() { return std::tie(clock_ns); }
};

using Record = std::variant<
    Session,
    Name,
    Device,
    Kernel,
    Copy,
    Call,
    ExternalCorrelation,
    Marker,
    Synchronization,
    EventRecord,
    StreamInfo,
    Communicator,
    NcclCall,
    Counters,
    Lost,
    End>;

}  // namespace switchfold::capture

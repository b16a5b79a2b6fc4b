// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/format/call_records.h"
#include "workloads/capture/format/gpu_records.h"
#include "workloads/capture/format/nccl_records.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <variant>

/// The records of a capture file. Each record lists its fields once, in fields(), which encoder and
/// decoder follow; new fields must be appended. Times are in ns of the clock that Session anchors;
/// names are ids of Name records.
namespace switchfold::capture {

/// Version of the record layout; files of other versions are rejected.
constexpr std::uint32_t kFormatVersion = 1;

/// The first record of a file: the process it belongs to and the meaning of its clock.
struct Session {
    static constexpr std::uint16_t kTag = 1;
    std::uint32_t version = kFormatVersion;
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
    std::uint32_t process = 0;
    std::uint64_t clock_ns = 0;  ///< CLOCK_MONOTONIC at the file's start
    std::uint64_t unix_ns = 0;   ///< CLOCK_REALTIME at the same moment
    bool counters = false;       ///< second pass: kernels were serialised, so times are meaningless
    std::string host;
    std::string command;
    constexpr auto fields() {
        return std::tie(
            version, rank, world_size, process, clock_ns, unix_ns, counters, host, command);
    }
};

/// A string that later records refer to by `id`; ids count from 1 in file order.
struct Name {
    static constexpr std::uint16_t kTag = 2;
    std::uint32_t id = 0;
    std::string text;
    constexpr auto fields() { return std::tie(id, text); }
};

/// Something that the capture could not record.
struct Lost {
    static constexpr std::uint16_t kTag = 15;
    std::uint64_t count = 0;
    std::string what;
    constexpr auto fields() { return std::tie(count, what); }
};

/// The process ended normally; a file without this record was cut off.
struct End {
    static constexpr std::uint16_t kTag = 16;
    std::uint64_t clock_ns = 0;
    constexpr auto fields() { return std::tie(clock_ns); }
};

using Record = std::variant<
    Session, Name, Device, Kernel, Copy, Call, ExternalCorrelation, Marker, Synchronization,
    EventRecord, StreamInfo, Communicator, NcclCall, Counters, Lost, End>;

}  // namespace switchfold::capture

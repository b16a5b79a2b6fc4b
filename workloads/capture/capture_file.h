// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/big_vector.h"
#include "workloads/capture/format/records.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::capture {

/// An NVTX range of a thread, or of the process if its ends lie on different threads.
struct Range {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t thread = 0;
    std::uint32_t name = 0;
};

/// What one process recorded, in the order of the file.
struct CaptureFile {
    std::filesystem::path path;
    Session session;
    std::vector<std::string> names;  ///< by id; ids start at 1, id 0 means no name
    std::vector<Device> devices;
    BigVector<Kernel> kernels;
    BigVector<Copy> copies;
    BigVector<Call> calls;
    BigVector<ExternalCorrelation> external;
    BigVector<Range> ranges;  ///< by start
    BigVector<Synchronization> synchronizations;
    BigVector<EventRecord> event_records;
    std::vector<StreamInfo> streams;
    std::vector<Communicator> communicators;
    std::vector<NcclCall> nccl_calls;
    std::vector<Counters> counters;
    std::vector<Lost> lost;
    bool ended = false;  ///< the process ended normally
    std::uint64_t bytes = 0;
    std::uint64_t torn_bytes = 0;       ///< bytes after the last complete record
    std::uint64_t records = 0;          ///< complete ones
    std::uint64_t unknown_records = 0;  ///< of kinds that newer writers added
    std::uint64_t open_ranges = 0;      ///< NVTX ranges without an end
    std::uint64_t marks = 0;            ///< NVTX marks, and ends of ranges without a start

    [[nodiscard]] std::string_view name(std::uint32_t id) const {
        return id < names.size() ? std::string_view(names[id]) : std::string_view();
    }
};

/// Whether the bytes begin a capture file.
[[nodiscard]] bool is_capture(std::string_view beginning);

/// Reads up to the first torn record and counts the bytes after it. Throws ConfigError if the file
/// is not a capture, has another version or holds a record that does not fit its kind; IoError if
/// it cannot be read.
[[nodiscard]] CaptureFile read_capture(const std::filesystem::path& path);

/// What the user must know about a capture's losses, one line each; empty if nothing was lost.
[[nodiscard]] std::vector<std::string> losses(const CaptureFile& file);

}  // namespace switchfold::capture

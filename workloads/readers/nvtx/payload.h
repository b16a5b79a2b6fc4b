// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// What NCCL attaches to its own NVTX ranges (nvtx_payload_schemas.h); older versions state only
/// the size.
struct NcclPayload {
    std::optional<std::uint64_t>
        bytes;  ///< "Message size [bytes]": of one message, as passed to the call
    std::optional<std::uint64_t> communicator;  ///< equal on all its ranks
    std::optional<std::uint64_t> peer;          ///< of a send or receive: rank in the communicator
    // For calls that create a communicator:
    std::optional<std::uint64_t> ranks;
    std::optional<std::uint64_t> rank;
    std::optional<std::uint64_t> device;  ///< in the process's numbering
};

/// From the payload as profilers write it in JSON: {"Message size [bytes]": 4096, ...}.
[[nodiscard]] NcclPayload nccl_payload(std::string_view json);

/// Memory layouts of the payloads of a report's ranges. Nsight Systems exports the layouts
/// (NVTX_PAYLOAD_SCHEMA_ENTRIES) separately from the bytes (NVTX_EVENTS.binaryData).
class NvtxPayloads {
public:
    struct Entry {
        std::uint64_t domain = 0;
        std::uint64_t schema = 0;
        std::string_view name;
        std::uint64_t type = 0;  ///< nvtxPayloadEntryType (nvToolsExtPayload.h)
        std::uint64_t offset = 0;
    };
    void add(const Entry& entry);
    /// Decodes a range's bytes; empty if their layout is unknown or they are truncated.
    [[nodiscard]] NcclPayload nccl_payload(std::string_view bytes) const;

private:
    using Member = std::optional<std::uint64_t> NcclPayload::*;
    struct Field {
        Member member = nullptr;
        std::uint64_t offset = 0;
        std::size_t size = 0;
    };
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Field>> schemas_;
};

}  // namespace switchfold

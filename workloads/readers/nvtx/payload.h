// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// What NCCL tells with an NVTX range of its own (its nvtx_payload_schemas.h), where it does: older
/// versions tell the size alone.
struct NcclPayload {
    std::optional<std::uint64_t>
        bytes;  ///< "Message size [bytes]": one message, as the call has it
    std::optional<std::uint64_t> communicator;  ///< the same number on all its ranks
    // Where a communicator is made:
    std::optional<std::uint64_t> ranks;
    std::optional<std::uint64_t> rank;
    std::optional<std::uint64_t> device;  ///< as the process numbers them
};

/// From the payload as a profiler writes it in JSON: {"Message size [bytes]": 4096, ...}.
[[nodiscard]] NcclPayload nccl_payload(std::string_view json);

/// How the payloads of a report's ranges lie in memory. Nsight Systems exports these layouts
/// (NVTX_PAYLOAD_SCHEMA_ENTRIES) beside the bytes themselves (NVTX_EVENTS.binaryData).
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
    /// From a range's bytes; empty if their layout is not known or they are cut.
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

// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nvtx/payload.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace switchfold {

namespace {

struct Named {
    std::string_view name;
    std::optional<std::uint64_t> NcclPayload::*member;
};
constexpr std::array<Named, 7> kNamed{
    {{"Message size [bytes]", &NcclPayload::bytes},
     {"Bytes", &NcclPayload::bytes},  // in older versions
     {"NCCL communicator ID", &NcclPayload::communicator},
     {"Peer rank", &NcclPayload::peer},
     {"No. of ranks", &NcclPayload::ranks},
     {"Rank", &NcclPayload::rank},
     {"CUDA device", &NcclPayload::device}}};

/// Bytes of an integer type on 64-bit Linux; 0 if the type is not an integer.
std::size_t size_of_type(std::uint64_t type) {
    switch (type) {
    case 5:   // int
    case 6:   // unsigned
    case 15:  // int32
    case 16:  // uint32
        return 4;
    case 7:   // long
    case 8:   // unsigned long
    case 9:   // long long
    case 10:  // unsigned long long
    case 17:  // int64
    case 18:  // uint64
    case 22:  // size_t
        return 8;
    default:
        return 0;
    }
}

std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        number = number << 8U | static_cast<unsigned char>(bytes[i]);
    return number;
}

/// Header before the payload, 64 bits each: domain, layout, bytes of the payload, bytes of both.
constexpr std::size_t kHeader = 32;

}  // namespace

NcclPayload nccl_payload(std::string_view json) {
    NcclPayload payload;
    for (const Named& named : kNamed) {
        const std::size_t key = json.find(named.name);
        if (key == 0 || key == std::string_view::npos || json[key - 1] != '"')
            continue;
        std::string_view value = json.substr(key + named.name.size());
        if (!value.starts_with('"'))
            continue;
        value.remove_prefix(std::min(value.find_first_not_of(" :\""), value.size()));
        std::uint64_t number = 0;
        if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{})
            payload.*named.member = number;
    }
    return payload;
}

void NvtxPayloads::add(const Entry& entry) {
    const auto* const named =
        std::find_if(kNamed.begin(), kNamed.end(), [&entry](const Named& known) {
            return known.name == entry.name;
        });
    const std::size_t size = size_of_type(entry.type);
    if (named != kNamed.end() && size != 0)
        schemas_[{entry.domain, entry.schema}].push_back({named->member, entry.offset, size});
}

NcclPayload NvtxPayloads::nccl_payload(std::string_view bytes) const {
    NcclPayload payload;
    if (bytes.size() < kHeader)
        return payload;
    const auto schema =
        schemas_.find({little_endian(bytes.substr(0, 8)), little_endian(bytes.substr(8, 8))});
    if (schema == schemas_.end())
        return payload;
    bytes.remove_prefix(kHeader);
    for (const Field& field : schema->second)
        if (field.offset <= bytes.size() && field.size <= bytes.size() - field.offset)
            payload.*field.member = little_endian(bytes.substr(field.offset, field.size));
    return payload;
}

}  // namespace switchfold

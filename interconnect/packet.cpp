// SPDX-License-Identifier: Apache-2.0
#include "interconnect/packet.h"

namespace switchfold {

std::uint32_t
PacketFormat::wire_bytes(PacketKind kind, std::uint32_t payload, std::uint32_t parts) const {
    const auto flit_bytes = static_cast<std::uint32_t>(flit.count());
    const std::uint32_t count = packets(kind, payload, parts);
    switch (kind) {
    case PacketKind::kReadRequest:
        return count * request_flits * flit_bytes;
    case PacketKind::kReduceRequest:
    case PacketKind::kReduceCommand:
    case PacketKind::kReduceFetch:
        return count * reduce_request_flits * flit_bytes;
    default: {
        const std::uint32_t data_flits = (payload + flit_bytes - 1) / flit_bytes;
        return (data_flits + count * header_flits) * flit_bytes;
    }
    }
}

std::uint32_t PacketFormat::acknowledge_narrow_bytes(const Packet& packet) const {
    return acknowledge_bytes(packet.kind, stored_bytes(packet.payload, packet.width), packet.lines);
}

}  // namespace switchfold

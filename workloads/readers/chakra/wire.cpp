// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/chakra/wire.h"

#include <fmt/format.h>

namespace switchfold::chakra {

std::uint64_t WireReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (rest_.empty())
            throw WireError("ends within a number; expected a whole message");
        const auto byte = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        if (shift == 63 && byte > 1)
            break;
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if ((byte & 0x80U) == 0)
            return value;
    }
    throw WireError("holds a number of more than 64 bits; expected a protobuf message");
}

std::uint64_t WireReader::fixed(std::size_t width) {
    if (rest_.size() < width)
        throw WireError("ends within a number; expected a whole message");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i)
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    rest_.remove_prefix(width);
    return value;
}

std::optional<WireField> WireReader::next() {
    if (rest_.empty())
        return std::nullopt;
    const std::uint64_t key = varint();
    WireField field;
    if (key >> 3U == 0 || key >> 3U > 0x1fffffffU)
        throw WireError(fmt::format("holds field number {}; expected 1 to 2^29 - 1", key >> 3U));
    field.number = static_cast<std::uint32_t>(key >> 3U);
    switch (key & 7U) {
    case 0:
        field.kind = WireField::Kind::kVarint;
        field.value = varint();
        break;
    case 1:
        field.kind = WireField::Kind::kFixed64;
        field.value = fixed(8);
        break;
    case 2: {
        field.kind = WireField::Kind::kBytes;
        const std::uint64_t size = varint();
        if (size > rest_.size())
            throw WireError(fmt::format(
                "ends within field {}; expected {} more bytes", field.number, size - rest_.size()));
        field.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        break;
    }
    case 5:
        field.kind = WireField::Kind::kFixed32;
        field.value = fixed(4);
        break;
    default:
        throw WireError(fmt::format("holds wire type {}; expected 0, 1, 2 or 5", key & 7U));
    }
    return field;
}

void WireField::append_to(std::vector<std::uint64_t>& list) const {
    if (kind != Kind::kBytes) {
        list.push_back(value);
        return;
    }
    WireReader packed(bytes);
    while (!packed.at_end())
        list.push_back(packed.varint());
}

}  // namespace switchfold::chakra

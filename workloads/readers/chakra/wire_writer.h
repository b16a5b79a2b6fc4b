// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold::chakra {

/// A protobuf message as it is encoded; fields of value 0 are left out, as proto3 does.
class WireMessage {
public:
    void number(std::uint32_t field, std::uint64_t value) {
        if (value != 0)
            always(field, value);
    }
    /// Of a oneof: a 0 says which it is.
    void always(std::uint32_t field, std::uint64_t value) {
        append_varint(std::uint64_t{field} << 3U);
        append_varint(value);
    }
    void bytes(std::uint32_t field, std::string_view value) {
        append_varint(std::uint64_t{field} << 3U | 2U);
        append_varint(value.size());
        text_ += value;
    }
    void packed(std::uint32_t field, const std::vector<std::uint64_t>& values) {
        if (values.empty())
            return;
        WireMessage list;
        for (const std::uint64_t value : values)
            list.append_varint(value);
        bytes(field, list.text_);
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    /// Preceded by its length, as messages follow each other in a file.
    [[nodiscard]] std::string delimited() const {
        WireMessage length;
        length.append_varint(text_.size());
        return length.text_ + text_;
    }

private:
    void append_varint(std::uint64_t value) {
        constexpr std::uint64_t kSeven = 0x7f;
        for (; value > kSeven; value >>= 7U)
            text_ += static_cast<char>((value & kSeven) | 0x80U);
        text_ += static_cast<char>(value);
    }
    std::string text_;
};

}  // namespace switchfold::chakra

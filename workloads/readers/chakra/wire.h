// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace switchfold::chakra {

/// The bytes are not a protobuf message; the text says what was expected.
class WireError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One field of a protobuf message as encoded: a number for varints and fixed widths, bytes for
/// texts, messages and packed lists.
struct WireField {
    enum class Kind : std::uint8_t { kVarint, kFixed64, kBytes, kFixed32 };
    std::uint32_t number = 0;
    Kind kind = Kind::kVarint;
    std::uint64_t value = 0;
    std::string_view bytes;

    [[nodiscard]] double as_double() const {
        double out = 0;
        std::memcpy(&out, &value, sizeof out);
        return out;
    }
    [[nodiscard]] double as_float() const {
        const auto narrow = static_cast<std::uint32_t>(value);
        float out = 0;
        std::memcpy(&out, &narrow, sizeof out);
        return static_cast<double>(out);
    }
    /// Appends numbers of a list: all of a packed field, or the single number of an unpacked one.
    /// Throws WireError.
    void append_to(std::vector<std::uint64_t>& list) const;
};

/// Iterates over a message's fields.
class WireReader {
public:
    explicit WireReader(std::string_view bytes) : rest_(bytes) {}
    /// \returns nothing at the end. Throws WireError.
    std::optional<WireField> next();
    std::uint64_t varint();
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
    std::uint64_t fixed(std::size_t width);
    std::string_view rest_;
};

}  // namespace switchfold::chakra

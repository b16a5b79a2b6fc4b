// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/format/frame.h"

#include <algorithm>
#include <concepts>
#include <stdexcept>
#include <type_traits>

#include <zlib.h>

namespace switchfold::capture {

namespace {

constexpr std::size_t kHeader = 8;
constexpr std::size_t kChecksum = 4;
constexpr std::size_t kMaxString = 64U << 10U;

std::uint32_t checksum(std::string_view bytes) {
    return static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T>
void put_number(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        out.push_back(static_cast<char>((std::uint64_t{value} >> (8 * i)) & 0xFFU));
}

template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
    return static_cast<T>(value);
}

class Encoder {
public:
    explicit Encoder(std::string& out) : out_(out) {}
    void operator()(const std::string& text) {
        const std::size_t length = std::min(text.size(), kMaxString);
        put_number(out_, static_cast<std::uint32_t>(length));
        out_.append(text, 0, length);
    }
    void operator()(const std::array<std::uint32_t, 3>& values) {
        for (const std::uint32_t value : values)
            put_number(out_, value);
    }
    void operator()(bool value) { put_number(out_, static_cast<std::uint8_t>(value)); }
    template <std::unsigned_integral T>
    void operator()(T value) {
        put_number(out_, value);
    }
    template <class E>
    requires std::is_enum_v<E>
    void operator()(E value) { put_number(out_, static_cast<std::uint8_t>(value)); }

private:
    std::string& out_;
};

class Decoder {
public:
    explicit Decoder(std::string_view bytes) : bytes_(bytes) {}
    [[nodiscard]] bool ended() const { return at_ == bytes_.size(); }
    void operator()(std::string& text) {
        const auto length = take<std::uint32_t>();
        need(length);
        text.assign(bytes_.substr(at_, length));
        at_ += length;
    }
    void operator()(std::array<std::uint32_t, 3>& values) {
        for (std::uint32_t& value : values)
            value = take<std::uint32_t>();
    }
    void operator()(bool& value) { value = take<std::uint8_t>() != 0; }
    template <std::unsigned_integral T>
    void operator()(T& value) {
        value = take<T>();
    }
    template <class E>
    requires std::is_enum_v<E>
    void operator()(E& value) { value = static_cast<E>(take<std::uint8_t>()); }

private:
    void need(std::size_t count) const {
        if (bytes_.size() - at_ < count)
            throw std::invalid_argument("a record ends before its fields do");
    }
    template <class T>
    T take() {
        need(sizeof(T));
        const T value = number_at<T>(bytes_, at_);
        at_ += sizeof(T);
        return value;
    }
    std::string_view bytes_;
    std::size_t at_ = 0;
};

template <class R>
Record decode_as(std::string_view payload) {
    R record;
    Decoder decoder(payload);
    // Files from older writers lack the last fields, which keep their defaults.
    const auto read = [&decoder](auto& field) {
        if (!decoder.ended())
            decoder(field);
    };
    std::apply([&](auto&... field) { (read(field), ...); }, record.fields());
    return record;
}

template <class... R>
std::optional<Record> decode_any(const Frame& frame, const std::variant<R...>* /*list*/) {
    std::optional<Record> record;
    const bool known =
        ((frame.tag == R::kTag && (record = decode_as<R>(frame.payload), true)) || ...);
    return known ? record : std::nullopt;
}

}  // namespace

void append_frame(std::string& out, const Record& record) {
    const std::size_t start = out.size();
    out.append(kHeader, '\0');
    const std::uint16_t tag = std::visit(
        [&out](auto fields_of) {
            Encoder encoder(out);
            std::apply([&](const auto&... field) { (encoder(field), ...); }, fields_of.fields());
            return fields_of.kTag;
        },
        record);
    std::string header;
    put_number(header, static_cast<std::uint32_t>(out.size() - start - kHeader));
    put_number(header, tag);
    put_number(header, std::uint16_t{0});
    out.replace(start, kHeader, header);
    put_number(out, checksum(std::string_view(out).substr(start)));
}

std::optional<Frame> frame_at(std::string_view bytes, std::size_t offset) {
    if (bytes.size() - offset < kHeader + kChecksum)
        return std::nullopt;
    const auto length = number_at<std::uint32_t>(bytes, offset);
    if (length > kMaxPayload || bytes.size() - offset - kHeader - kChecksum < length)
        return std::nullopt;
    const std::size_t end = offset + kHeader + length;
    if (number_at<std::uint32_t>(bytes, end) != checksum(bytes.substr(offset, end - offset)))
        return std::nullopt;
    return Frame{
        number_at<std::uint16_t>(bytes, offset + 4), bytes.substr(offset + kHeader, length),
        end + kChecksum};
}

std::optional<Record> decode(const Frame& frame) {
    return decode_any(frame, static_cast<const Record*>(nullptr));
}

}  // namespace switchfold::capture

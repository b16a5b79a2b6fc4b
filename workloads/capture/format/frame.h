// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/format/records.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// A capture file is kMagic and then frames: length of the payload (4 bytes), tag (2), two zero
/// bytes, the payload, and the CRC-32 of all of these. Numbers are little-endian; a string is its
/// length (4 bytes) and its bytes. A frame that the file's end or a wrong checksum cuts is torn,
/// and nothing behind it can be trusted.
namespace switchfold::capture {

constexpr std::string_view kMagic = "SFCAPT01";
/// No record is larger: a larger length is damage.
constexpr std::uint32_t kMaxPayload = 1U << 20U;

/// Appends the record's frame. Strings are cut at 64 KiB, so that no record passes kMaxPayload.
void append_frame(std::string& out, const Record& record);

/// A frame's payload, which points into the bytes that were read, and where the next one starts.
struct Frame {
    std::uint16_t tag = 0;
    std::string_view payload;
    std::size_t next = 0;
};
/// The frame that starts at `offset`; empty if it is torn.
[[nodiscard]] std::optional<Frame> frame_at(std::string_view bytes, std::size_t offset);

/// Decodes a payload. Fields that a newer writer added at the end are passed over, those that an
/// older one did not know have their defaults. Empty if the tag is unknown; throws
/// std::invalid_argument if the payload ends within a field.
[[nodiscard]] std::optional<Record> decode(const Frame& frame);

}  // namespace switchfold::capture

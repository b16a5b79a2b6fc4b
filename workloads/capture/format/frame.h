// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/capture/format/records.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// A capture file is kMagic followed by frames: length of the payload (4 bytes), tag (2), two zero
/// bytes, the payload, and the CRC-32 of all of these. Numbers are little-endian; a string is its
/// length (4 bytes) and its bytes. A frame is torn if the file ends within it or its checksum is
/// wrong; nothing after it is trusted.
namespace switchfold::capture {

constexpr std::string_view kMagic = "SFCAPT01";
/// Limit on a payload; a larger length means damage.
constexpr std::uint32_t kMaxPayload = 1U << 20U;

/// Appends the record's frame. Strings are truncated to 64 KiB to stay below kMaxPayload.
void append_frame(std::string& out, const Record& record);

/// A frame's payload, as a view of the bytes read, and the offset of the next frame.
struct Frame {
    std::uint16_t tag = 0;
    std::string_view payload;
    std::size_t next = 0;
};
/// The frame that starts at `offset`; empty if it is torn.
[[nodiscard]] std::optional<Frame> frame_at(std::string_view bytes, std::size_t offset);

/// Decodes a payload. Unknown fields at the end (from newer writers) are skipped; missing ones
/// (older writers) keep their defaults. Empty if the tag is unknown; throws std::invalid_argument
/// if the payload ends within a field.
[[nodiscard]] std::optional<Record> decode(const Frame& frame);

}  // namespace switchfold::capture

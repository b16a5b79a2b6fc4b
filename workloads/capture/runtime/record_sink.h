// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace switchfold::capture {

/// Destination of records, and the interface between the two capture libraries: it has no state and
/// no symbols that both would need.
class RecordSink {
public:
    RecordSink() = default;
    RecordSink(const RecordSink&) = delete;
    RecordSink& operator=(const RecordSink&) = delete;
    RecordSink(RecordSink&&) = delete;
    RecordSink& operator=(RecordSink&&) = delete;
    virtual ~RecordSink() = default;
    /// The id of a text. Its Name record is written before this returns.
    virtual std::uint32_t name(std::string_view text) = 0;
    /// Writes complete frames.
    virtual void write(std::string_view frames) = 0;
};

}  // namespace switchfold::capture

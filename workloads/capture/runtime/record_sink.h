// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace switchfold::capture {

/// Where records go. Also the interface between the two capture libraries: it has no state and no
/// symbols that both would need.
class RecordSink {
public:
    RecordSink() = default;
    RecordSink(const RecordSink&) = delete;
    RecordSink& operator=(const RecordSink&) = delete;
    RecordSink(RecordSink&&) = delete;
    RecordSink& operator=(RecordSink&&) = delete;
    virtual ~RecordSink() = default;
    /// The id of a text. Its Name record is in the file before this returns.
    virtual std::uint32_t name(std::string_view text) = 0;
    /// Writes whole frames.
    virtual void write(std::string_view frames) = 0;
};

}  // namespace switchfold::capture

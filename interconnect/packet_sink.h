// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/packet.h"
#include "sim/core/optional_time.h"

namespace switchfold {

class Link;

/// What a link ends in: takes every packet, since the sender held a credit for it.
class PacketSink {
public:
    /// \returns when the packet's place in the input buffer is free again, or nothing if the sink
    /// will call Link::release() itself later.
    virtual OptionalTime accept(const Packet& packet, Link& from) = 0;
    /// The packet comes soon: time to ask for memory that it will touch.
    virtual void prepare(const Packet& /*packet*/) const {}

protected:
    ~PacketSink() = default;
};

}  // namespace switchfold

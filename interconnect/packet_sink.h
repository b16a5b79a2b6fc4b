// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optional_time.h"
#include "interconnect/packet.h"

namespace switchfold {

class Link;

/// Far end of a link. It accepts every packet, since the sender held a credit.
class PacketSink {
public:
    /// \returns when the packet's buffer space is free again, or nothing if the sink will call
    /// Link::release() itself.
    virtual OptionalTime accept(const Packet& packet, Link& from) = 0;
    /// Called shortly before the packet arrives, for prefetching.
    virtual void prepare(const Packet& /*packet*/) const {}

protected:
    ~PacketSink() = default;
};

}  // namespace switchfold

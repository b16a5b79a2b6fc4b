// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <optional>

namespace switchfold {

/// When both ends of a message joined it, and moved no more data.
struct MessageSeen {
    Time sender_joined;
    Time receiver_joined;
    Time sender_done;
    Time receiver_done;
};

/// What messages of one size between two ranks take, as earlier ones did that met no others. A
/// receiver that waits takes data as they come. One that comes late finds what fits the FIFOs, and
/// needs a while for that. Pure logic, without a clock.
class MessageTimes {
public:
    /// Learns from a message that was alone at both ends.
    void learn(const MessageSeen& seen);
    /// Whether one is known whose sender comes first, or whose receiver does.
    [[nodiscard]] bool knows(bool sender_first) const {
        return waiting_ && (!sender_first || late_);
    }

    /// From the sender's joining on, with a receiver that waits. \pre knows(false)
    struct Waiting {
        Time sender;
        Time receiver;
    };
    [[nodiscard]] const Waiting& waiting() const { return *waiting_; }
    /// With one that comes when the FIFOs are full. \pre knows(true)
    struct Late {
        std::optional<Time> alone;  ///< the sender's end, if it does not wait, from its joining on
        Time sender;                ///< the same if it does, from the receiver's joining on
        Time receiver;              ///< from the receiver's joining on
    };
    [[nodiscard]] const Late& late() const { return *late_; }

private:
    std::optional<Waiting> waiting_;
    std::optional<Late> late_;
};

}  // namespace switchfold

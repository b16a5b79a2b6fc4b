// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/message_times.h"

#include <cstdint>

namespace switchfold {

namespace {

// Shares of a message's time. A receiver's coming late tells what such a receiver needs if it
// lengthens the message by the one, or if that is at most the other: of one that comes later still
// it is no more.
constexpr std::uint64_t kLengthened = 100;
constexpr std::uint64_t kSmall = 4;

}  // namespace

void MessageTimes::learn(const MessageSeen& seen) {
    if (seen.receiver_joined <= seen.sender_joined) {
        waiting_ = {seen.sender_done - seen.sender_joined, seen.receiver_done - seen.sender_joined};
        return;
    }
    if (!waiting_ || late_)
        return;
    const Time whole = waiting_->receiver;
    Late late;
    late.receiver = seen.receiver_done - seen.receiver_joined;
    if (seen.receiver_joined - seen.sender_joined < whole && late.receiver > whole / kSmall &&
        seen.receiver_done - seen.sender_joined <= whole + whole / kLengthened)
        return;
    if (seen.sender_done <= seen.receiver_joined)
        late.alone = seen.sender_done - seen.sender_joined;
    else
        late.sender = seen.sender_done - seen.receiver_joined;
    late_ = late;
}

}  // namespace switchfold

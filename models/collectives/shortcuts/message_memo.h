// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/units.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/shortcuts/message_times.h"
#include "models/collectives/shortcuts/traffic_counts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace switchfold {

class Fabric;
class MemberListener;

/// An end of a message that joins it.
struct MessageEnd {
    MemberListener* members = nullptr;
    Bytes bytes;
    std::uint32_t channels = 0;
    std::uint32_t sender = 0;    ///< global rank
    std::uint32_t receiver = 0;  ///< global rank
    std::uint32_t position = 0;  ///< among the members
    bool sends = false;
};

/// Lets messages between ranks pass as an earlier one over links like theirs did, without moving
/// their data. For steps in which messages are all that moves over links but for short collectives:
/// what these take from messages is left out, and so is what messages of different ranks take from
/// each other. Those that one rank sends at the same time, or that one receives, share its links
/// evenly.
class MessageMemo final : private EventHandler {
public:
    MessageMemo(Fabric& fabric, TrafficCounts& counts, const std::vector<RankPort*>& ports);

    /// \returns whether the message passes: its members then hear from here when they are done.
    bool joins(const MessageEnd& end);
    /// A message that does not pass moves no more data at this end from `end` on.
    void told(const MemberListener& of, bool sends, Time end);
    /// Something else begins to move over links, or ends.
    void other_begins();
    void other_ends() { --others_; }

private:
    /// By sender and receiver: the links between them.
    struct Way {
        std::vector<std::uint32_t> links;
        std::vector<std::uint32_t> ordered;  ///< the same links, ascending
        std::uint64_t kind = 0;  ///< ways of one number have links of equal rates and latencies
        std::vector<TrafficCounts::Count> counts;  ///< of the links, without values
    };
    /// What is known of messages that are alike: in their size, and in the links on their way.
    struct Known {
        MessageTimes times;
        std::vector<double> traffic;  ///< what each adds to the counts of its links, in their order
        /// Until that is known, those on this way are simulated.
        const Way* measured = nullptr;
        std::uint32_t tries = 0;
        /// Those that have passed uncounted, by sender and receiver.
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> owed;
        /// Bytes that the ends' memories move at most.
        std::optional<double> read;
        std::optional<double> written;
    };
    /// One that is simulated.
    struct Simulated {
        Known* known = nullptr;
        const Way* way = nullptr;
        MessageSeen seen;
        std::uint32_t sender = 0;
        std::uint32_t receiver = 0;
        std::uint64_t read = 0;  ///< by the sender's memory when it joined
        std::uint64_t written = 0;
        bool sender_joined = false;
        bool receiver_joined = false;
        bool sender_done = false;
        bool receiver_done = false;
        bool alone = true;  ///< meanwhile nothing else moved at its ends
        bool clean = true;  ///< nor on its links
        /// Whether data may be on links: of a sender that nobody waits for, until all lie in FIFOs.
        [[nodiscard]] bool moves(Time now) const {
            const bool lies = !receiver_joined && known->times.knows(false) &&
                              now >= seen.sender_joined + known->times.waiting().receiver;
            return sender_joined && !lies && !(sender_done && receiver_done);
        }
        std::vector<TrafficCounts::Count> counts;  ///< before it
    };
    /// One that passes.
    struct Passing {
        MemberListener* members = nullptr;
        Known* known = nullptr;
        const Way* way = nullptr;
        std::uint32_t sender = 0;
        std::uint32_t receiver = 0;
        std::uint32_t sender_position = 0;
        std::uint32_t receiver_position = 0;
        std::optional<Time> sender_joined;
        std::optional<Time> receiver_joined;
        Time since;        ///< up to which `moved` is counted
        double moved = 0;  ///< of the time that it takes on links of its own
        double pace = 0;   ///< 0: not on links
        bool sender_done = false;
        bool receiver_done = false;
        std::uint32_t generation = 0;  ///< of its event
        [[nodiscard]] bool over() const { return sender_done && receiver_done; }
        [[nodiscard]] bool moves() const {
            return sender_joined && moved < static_cast<double>(whole().count());
        }
        [[nodiscard]] Time whole() const {
            const MessageTimes::Waiting& waiting = known->times.waiting();
            return std::max(waiting.sender, waiting.receiver);
        }
    };
    bool joins(Passing& passing, const MessageEnd& end);
    void simulate(const MessageEnd& end, Known& known, const Way& way);
    const Way& way_of(const MessageEnd& end);
    void learn(const Simulated& message);
    void count(Known& known, std::uint32_t sender, std::uint32_t receiver, std::uint32_t messages);
    void on_event(std::uint64_t tag) override;
    /// Counts what has moved, and shares links anew.
    void share();
    /// When an end is done, if links stay shared as they are; nothing: not before the other joins.
    [[nodiscard]] std::optional<Time> sender_end(const Passing& passing) const;
    [[nodiscard]] std::optional<Time> receiver_end(const Passing& passing) const;
    /// When so much of its time on links will have passed.
    [[nodiscard]] Time moved_at(const Passing& passing, Time much) const;
    void post(std::size_t index);
    /// The memories move what passing messages do.
    void stream(std::uint32_t rank);

    Scheduler& scheduler_;
    Fabric& fabric_;
    TrafficCounts& counts_;
    const std::vector<RankPort*>& ports_;
    /// By kind of way, bytes and channels.
    std::map<std::array<std::uint64_t, 3>, Known> known_;
    std::map<std::vector<std::uint64_t>, std::uint64_t> kinds_;  ///< by rates and latencies
    std::map<std::pair<std::uint32_t, std::uint32_t>, Way> ways_;
    std::map<const MemberListener*, Simulated> simulated_;
    std::vector<Passing> passing_;  ///< by index in events; those without members are free
    std::uint32_t others_ = 0;      ///< that move over links and are no messages
};

}  // namespace switchfold

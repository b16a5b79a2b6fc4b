// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/experts_base.h"
#include "models/collectives/warp.h"
#include "sim/core/ring_queue.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

/// Tokens in a range of one sender's tokens to one receiver: indices into their list.
struct TokenRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// The part of `tokens` that channel `channel` of `channels` works on, as DeepEP shares them out
/// (get_channel_task_range).
[[nodiscard]] TokenRange
channel_tokens(std::uint32_t tokens, std::uint32_t channels, std::uint32_t channel);

/// One way from a channel's sending block at one rank to its receiving block at another, or at the
/// same: a ring buffer of tokens at the receiver.
struct TokenFlow {
    struct Batch {
        std::uint32_t tokens = 0;
        std::uint64_t end = 0;     ///< bytes of the flow up to its last one
        std::uint32_t values = 0;  ///< functional mode: their numbers
    };
    const Connection* route = nullptr;  ///< null: to its own rank
    std::uint32_t channel = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    TokenRange range;         ///< of the pair's tokens
    std::uint32_t begun = 0;  ///< tokens that the sender has taken up
    std::uint32_t tail = 0;   ///< that the receiver knows of
    std::uint32_t head = 0;   ///< whose places are free again
    std::uint32_t gone = 0;   ///< in batches that a combine has done with
    std::uint32_t units = 0;  ///< sent so far: chooses the stripe
    bool waits_for_room = false;
    bool receiving = false;
    // The chunk under way.
    std::uint32_t chunk = 0;         ///< tokens
    std::uint64_t bytes = 0;         ///< of it
    std::uint64_t sent = 0;          ///< bytes of it
    std::uint64_t sent_before = 0;   ///< bytes of all before it
    std::uint64_t arrived = 0;       ///< bytes of all
    std::uint64_t duration = 0;      ///< ps that its copy takes at the sender
    std::uint64_t free_at = 0;       ///< ps, when the sender's warps can go on
    std::uint64_t acknowledged = 0;  ///< ps, when the sender knows of the last arrival
    std::uint64_t departed = 0;      ///< ps, when the unit before the last has left
    bool blocked = false;            ///< a unit waits for credit at the link
    RingQueue<Batch, 2> under_way;   ///< chunks that the receiver does not know of
    RingQueue<Batch, 2> batches;     ///< that the receiver knows of and has not taken
    [[nodiscard]] bool all_begun() const { return begun == range.count; }
};

/// How a library's ring buffers are used.
struct RingShape {
    std::uint32_t channels = 1;  ///< pairs of a sending and a receiving block
    std::uint32_t chunk = 1;     ///< tokens that a sender hands over at once
    std::uint32_t places = 256;  ///< tokens that a buffer holds
    std::uint64_t row = 0;       ///< bytes of a token in it
    /// Lines carry their own flags, so that data can be used as they come, and freed places are
    /// written to the sender. Else the sender loads the head over the link, waits until its stores
    /// are there, and moves the tail.
    bool lines = false;
    Time start;  ///< once an exchange
};

/// Exchanges through ring buffers at the receivers, one for each channel and pair of ranks. Half of
/// the blocks send, half receive; a pair of them is a channel, which works on its share of each
/// rank's tokens. A sending block's warps are spread over the receivers. What comes out of the
/// buffers is for the receiving blocks to say.
class RingBuffers : public ExpertsCollective {
public:
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override;

protected:
    RingBuffers(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener,
        const RingShape& shape);

    void begin(Time start) override;
    /// The receiver knows of more tokens in the flow's buffer.
    virtual void on_tail(TokenFlow& flow) = 0;
    /// A receiver's event.
    virtual void on_received(std::uint32_t index) = 0;
    /// Time (ps) of a sender's warps for the chunk.
    [[nodiscard]] virtual std::uint64_t copy_time(const TokenFlow& flow) const = 0;

    [[nodiscard]] TokenFlow& flow(std::uint32_t channel, std::uint32_t from, std::uint32_t to) {
        return flows_[(std::size_t{channel} * n_ + from) * n_ + to];
    }
    [[nodiscard]] std::uint32_t index_of(const TokenFlow& flow) const {
        return static_cast<std::uint32_t>(&flow - flows_.data());
    }
    /// Of a sending or receiving block, those that serve one rank.
    [[nodiscard]] std::uint32_t warps_of_flow() const {
        return std::max(1U, params_.threads / kWarpThreads / n_);
    }
    /// Tokens that each of so many's warps copies.
    [[nodiscard]] std::uint64_t turns(std::uint64_t tokens) const {
        return (tokens + warps_of_flow() - 1) / warps_of_flow();
    }
    /// The places of `tokens` more are free.
    void free_places(TokenFlow& flow, std::uint32_t tokens);
    void post_received(std::uint32_t index, std::uint64_t at);

    RingShape shape_;
    std::uint32_t channels_;
    std::uint32_t chunk_;  ///< tokens
    std::vector<TokenFlow> flows_;

private:
    enum class Stage : std::uint8_t { kBegin, kUnit, kRelease, kTail, kReceived };
    void on_event(std::uint64_t tag) override;
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    void on_departure(std::uint64_t tag, Time departure) override;
    void post(Stage stage, std::uint32_t index, std::uint64_t at);
    void look_for_room(TokenFlow& flow);
    void begin_chunk(TokenFlow& flow);
    void send_unit(TokenFlow& flow);
    void after_unit(TokenFlow& flow);
    void release_if_stored(TokenFlow& flow);
    void move_tail(TokenFlow& flow);
    [[nodiscard]] std::uint64_t way(const TokenFlow& flow) const {
        return flow.route == nullptr ? 0 : flow.route->latency.count();
    }

    std::uint64_t unit_;  ///< bytes of a packet, at most
};

}  // namespace switchfold

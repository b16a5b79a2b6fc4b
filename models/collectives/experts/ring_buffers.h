// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ring_queue.h"
#include "models/collectives/experts/experts_base.h"
#include "models/collectives/warp.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

/// A range of one sender's tokens to one receiver: indices into their list.
struct TokenRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// The part of `tokens` for channel `channel` of `channels`, divided as in DeepEP
/// (get_channel_task_range).
[[nodiscard]] TokenRange
channel_tokens(std::uint32_t tokens, std::uint32_t channels, std::uint32_t channel);

/// A flow from a channel's sending block at one rank to its receiving block at another rank, or at
/// the same: a ring buffer of tokens at the receiver.
struct TokenFlow {
    struct Batch {
        std::uint32_t tokens = 0;
        std::uint64_t end = 0;     ///< end of the batch, in bytes of the flow
        std::uint32_t values = 0;  ///< functional mode: handle of their values
    };
    const Connection* route = nullptr;  ///< null: to its own rank
    std::uint32_t channel = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    TokenRange range;         ///< of the pair's tokens
    std::uint32_t begun = 0;  ///< tokens that the sender has started on
    std::uint32_t tail = 0;   ///< tokens known to the receiver
    std::uint32_t head = 0;   ///< tokens whose slots are free again
    std::uint32_t gone = 0;   ///< tokens in batches that a combine has finished
    std::uint32_t units = 0;  ///< sent so far: selects the stripe
    bool waits_for_room = false;
    bool receiving = false;
    // The current chunk.
    std::uint32_t chunk = 0;         ///< tokens
    std::uint64_t bytes = 0;         ///< its size
    std::uint64_t sent = 0;          ///< bytes sent
    std::uint64_t sent_before = 0;   ///< bytes sent in earlier chunks
    std::uint64_t arrived = 0;       ///< bytes arrived, in total
    std::uint64_t duration = 0;      ///< ps of its copy at the sender
    std::uint64_t free_at = 0;       ///< ps at which the sender's warps can continue
    std::uint64_t acknowledged = 0;  ///< ps at which the sender learns of the last arrival
    std::uint64_t departed = 0;      ///< ps at which the previous unit left
    bool blocked = false;            ///< a unit waits for a credit at the link
    RingQueue<Batch, 2> under_way;   ///< chunks not yet known to the receiver
    RingQueue<Batch, 2> batches;     ///< chunks known to the receiver but not yet taken
    [[nodiscard]] bool all_begun() const { return begun == range.count; }
};

/// How a library uses its ring buffers.
struct RingShape {
    std::uint32_t channels = 1;  ///< pairs of a sending and a receiving block
    std::uint32_t chunk = 1;     ///< tokens that a sender hands over at once
    std::uint32_t places = 256;  ///< capacity of a buffer in tokens
    std::uint64_t row = 0;       ///< bytes per token in the buffer
    /// Lines carry their own flags, so data can be used on arrival, and freed slots are written to
    /// the sender. Otherwise the sender loads the head over the link, waits until its stores have
    /// completed, and advances the tail.
    bool lines = false;
    Time start;  ///< once per exchange
};

/// Exchanges through ring buffers at the receivers, one per channel and pair of ranks. Half of the
/// blocks send, half receive; a pair of them forms a channel, which handles its share of each
/// rank's tokens. A sending block's warps are divided among the receivers. Subclasses define how
/// the receiving blocks use the tokens.
class RingBuffers : public ExpertsCollective {
public:
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;
    [[nodiscard]] Bytes footprint() const override;

protected:
    RingBuffers(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, const RingShape& shape);

    void begin(Time start) override;
    /// The receiver knows of further tokens in the flow's buffer.
    virtual void on_tail(TokenFlow& flow) = 0;
    /// An event of a receiver.
    virtual void on_received(std::uint32_t index) = 0;
    /// Time (ps) of a sender's warps for the current chunk.
    [[nodiscard]] virtual std::uint64_t copy_time(const TokenFlow& flow) const = 0;

    [[nodiscard]] TokenFlow& flow(std::uint32_t channel, std::uint32_t from, std::uint32_t to) {
        return flows_[(std::size_t{channel} * n_ + from) * n_ + to];
    }
    [[nodiscard]] std::uint32_t index_of(const TokenFlow& flow) const {
        return static_cast<std::uint32_t>(&flow - flows_.data());
    }
    /// Warps of a sending or receiving block per rank.
    [[nodiscard]] std::uint32_t warps_of_flow() const {
        return std::max(1U, params_.threads / kWarpThreads / n_);
    }
    /// Tokens that each of these warps copies, out of `tokens`.
    [[nodiscard]] std::uint64_t turns(std::uint64_t tokens) const {
        return (tokens + warps_of_flow() - 1) / warps_of_flow();
    }
    /// Frees the slots of `tokens` more tokens.
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

    std::uint64_t unit_;  ///< limit on the bytes of a packet
};

}  // namespace switchfold

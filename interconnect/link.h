// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/optional_time.h"
#include "core/prefetch.h"
#include "core/random_stream.h"
#include "core/ring_queue.h"
#include "interconnect/link_kind.h"
#include "interconnect/link_statistics.h"
#include "interconnect/packet.h"
#include "interconnect/packet_sink.h"
#include "interconnect/packet_watch.h"

#include <systemc>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold {

/// Notified when a packet that waited for credits starts on the wire.
class LinkListener {
public:
    virtual void on_departure(std::uint64_t tag, Time departure) = 0;

protected:
    ~LinkListener() = default;
};

/// Hears of credits that come back to a link whose far end pauses it.
class CreditWatch {
public:
    virtual void on_credits() = 0;

protected:
    ~CreditWatch() = default;
};

/// Hot fields of a link, packed into three cache lines in order of use, because a large machine's
/// links exceed the cache.
class alignas(64) LinkState : protected EventHandler {
protected:
    struct Returning {
        std::uint64_t due;
        std::uint32_t bytes;
        VirtualChannel channel;
    };

    explicit LinkState(LinkKind& kind) : kind_(&kind) {}
    ~LinkState() = default;

    PacketSink* sink_ = nullptr;
    LinkKind* kind_;
    std::uint64_t busy_until_ = 0;
    std::uint32_t busy_fraction_ = 0;  ///< of a picosecond, 2^-32
    std::uint32_t queued_ = 0;         ///< packets that wait for credits
    std::array<std::uint64_t, kVirtualChannels> used_{};
    RingQueue<Returning, 1> returning_;
    std::uint64_t packets_ = 0;
    std::uint64_t payload_bytes_ = 0;
    std::uint64_t wire_bytes_ = 0;
    Packet first_;  ///< first packet in flight
    std::uint32_t in_flight_ = 0;
    bool cut_through_ = false;
    bool pump_armed_ = false;
    bool errors_expected_ = false;
    bool answering_ = false;  ///< answers wait for their turn
};

static_assert(sizeof(LinkState) == 3 * 64);

/// One direction of a point-to-point link, with virtual channels and credits. A packet with a
/// credit is assigned its time on the wire at once, in order of requests; without a credit it waits
/// in the queue of its virtual channel. A GPU's answers wait in theirs until the wire is free for
/// them, and take turns with what it sends by itself, packet by packet: what others have asked of
/// it does not stand in the way of its own stores. The end of a busy period is kept to a fraction
/// of a picosecond, so rounding never accumulates. The far end sees a packet when its head arrives
/// (switch) or when its tail arrives (endpoint; for a train of lines, the tail of its first line).
class Link final : private LinkState, public sc_core::sc_module {
public:
    Link(const sc_core::sc_module_name& name, std::shared_ptr<LinkKind> kind, std::uint32_t id);

    /// `port`: the sink's number for this link.
    void bind(PacketSink& sink, std::uint32_t port, bool cut_through) {
        sink_ = &sink;
        port_ = port;
        cut_through_ = cut_through;
    }
    /// From now on the watch sees what arrives at the far end. Links have one watch at most.
    void watch(PacketWatch& watch);
    /// From now on packets arrive at this sink. \returns the one at which they arrived so far.
    PacketSink& interpose(PacketSink& sink) { return *std::exchange(sink_, &sink); }
    [[nodiscard]] std::uint32_t port() const { return port_; }
    void set_reverse(Link& reverse) { reverse_ = &reverse; }
    [[nodiscard]] Link& reverse() { return *reverse_; }

    /// Sends a packet that is ready at `earliest` (>= now). `upstream` is the link whose buffer it
    /// leaves, or null. \returns when its last byte leaves, or nothing if it waits for a credit
    /// (the listener is notified later).
    OptionalTime send(
        const Packet& packet, Time earliest, Link* upstream = nullptr,
        LinkListener* listener = nullptr);

    /// Sends an answer that is ready at `ready`, no earlier than those before it.
    void answer(const Packet& packet, Time ready);

    /// Prefetches the fields that a packet touches.
    void fetch() const { prefetch(static_cast<const LinkState*>(this), sizeof(LinkState)); }

    /// The last packet sent, which waits for a credit, leaves that link's buffer: it is freed when
    /// the packet has departed.
    void note_upstream(PacketKind kind, Link& upstream) {
        waiting_[static_cast<std::size_t>(virtual_channel(kind))].back().upstream = &upstream;
    }

    /// Occupies the wire for `wire` bytes of a host copy with `payload` bytes of data: without a
    /// packet or credit, in order with packets. \returns when the last byte leaves.
    Time carry(std::uint32_t payload, std::uint32_t wire);

    /// Occupies the wire for acknowledgements that travel against the data; they are not modelled
    /// as packets.
    void add_overhead(std::uint32_t bytes);

    /// Frees a packet's bytes in the far end's buffer at `when`; the credit returns after the
    /// link's latency.
    void release(VirtualChannel channel, std::uint32_t bytes, Time when);

    /// Added to the credits that a paused virtual channel has used: it has none left.
    static constexpr std::uint64_t kPaused = std::uint64_t{1} << 62U;
    /// Priority flow control in place of credits: the far end's buffer has room for all that comes
    /// until a pause takes effect, and the watch hears of what it frees.
    void take_pauses(CreditWatch& watch);
    void pause(VirtualChannel channel);
    void resume(VirtualChannel channel);
    [[nodiscard]] bool paused(VirtualChannel channel) const;
    /// Bytes in the far end's buffer, with a packet that is arriving now.
    [[nodiscard]] std::uint64_t held(VirtualChannel channel) const;
    /// The same as far as news of it have come back.
    [[nodiscard]] std::uint64_t known_held(VirtualChannel channel) const;

    /// Bytes that a packet finds before it.
    [[nodiscard]] std::uint64_t queue_bytes() const;
    /// And how long the wire takes for them.
    [[nodiscard]] Time queue_time() const;

    /// Reduces the rate to this share of its original value, in millionths.
    void degrade(std::uint32_t ppm);
    /// From now on bits are corrupted with this probability, drawn from a random stream named after
    /// the link.
    void inject_errors(double bit_error_rate, std::uint64_t seed);

    [[nodiscard]] std::uint32_t id() const { return id_; }
    [[nodiscard]] const PacketFormat& format() const { return kind_->params().format; }
    /// Wire bytes of such a packet's acknowledgement on the return direction.
    [[nodiscard]] std::uint32_t acknowledge_bytes(const Packet& packet) const {
        if (is_store(packet.kind) && !kind_->acknowledges_writes)
            return 0;
        if (packet.width >= kNarrow) [[unlikely]]
            return format().acknowledge_narrow_bytes(packet);
        return format().acknowledge_bytes(packet.kind, packet.payload, packet.lines);
    }
    [[nodiscard]] LinkStatistics statistics() const;
    /// Of these, for whoever looks at many links often.
    [[nodiscard]] std::uint64_t wire_bytes() const { return wire_bytes_; }
    /// Usable bytes per second of all lanes together.
    [[nodiscard]] Bandwidth bandwidth() const { return kind_->bandwidth(); }
    [[nodiscard]] Time latency() const { return Time(kind_->latency); }
    /// When the last byte scheduled so far leaves.
    [[nodiscard]] Time busy_until() const { return Time(busy_until_); }
    [[nodiscard]] std::size_t waiting() const;
    /// Bytes of credit not returned by the far end; 0 when idle.
    [[nodiscard]] std::uint64_t outstanding(VirtualChannel channel) const;

private:
    struct Waiting {
        Packet packet;  ///< its wire bytes and channel are those of the buffer that it waits in
        Link* upstream;
        LinkListener* listener;
        std::uint64_t earliest;
    };
    /// Position of the next bit error.
    struct Errors {
        double log_good_byte;  ///< logarithm of the probability that a byte is intact
        RandomStream stream;
        std::uint64_t bytes_left;
    };
    static constexpr std::uint64_t kDeliver = 0;
    static constexpr std::uint64_t kPump = 1;
    static constexpr std::uint64_t kAnswer = 2;
    static constexpr std::size_t kSinkBytes = 128;

    void on_event(std::uint64_t tag) override;
    void prepare(Prepare step) const override;
    void deliver();
    void pump();
    void collect_credits(std::uint64_t now);
    void arm_pump(std::uint64_t now);
    void arm_answer(std::uint64_t now);
    void answer_due();
    /// Puts the first answer on the wire.
    void send_answer();
    /// Before a packet of another virtual channel: the first answer, if it is its turn.
    void alternate();
    [[nodiscard]] bool has_credit(std::size_t channel) const;
    /// Bytes on the wire; `arriving`: without the packet that is arriving.
    [[nodiscard]] std::uint64_t on_wire(VirtualChannel channel, bool arriving) const;
    void occupy(std::uint64_t start, std::uint32_t bytes);
    /// Takes time from the other direction, which cannot carry data meanwhile.
    void hold_up_reverse(std::uint32_t bytes);
    Time commit(const Packet& packet, std::uint64_t earliest);
    /// A slot for a packet that the far end sees at `due` (ps).
    Packet& put_in_flight(std::uint64_t due);
    /// Makes the next packet the first. \returns its due time (ps)
    std::uint64_t next_in_flight();
    OptionalTime wait(const Packet& packet, Time earliest, Link* upstream, LinkListener* listener);
    void replay(std::uint32_t bytes);
    static std::uint64_t bytes_to_next_error(Errors& errors);

    RingQueue<std::uint32_t, 8> later_;  ///< slots of the other packets in flight
    std::uint32_t port_ = 0;
    std::uint32_t id_;
    std::array<RingQueue<Waiting>, kVirtualChannels> waiting_;
    RingQueue<Packet> answers_;   ///< that wait for the wire; their tails say when they are ready
    bool answered_last_ = false;  ///< the last packet given to the wire was an answer
    LinkStatistics statistics_;   ///< except counters updated with every packet
    Link* reverse_ = nullptr;
    std::unique_ptr<Errors> errors_;
    std::unique_ptr<WatchedSink> watched_;
    CreditWatch* pauses_ = nullptr;
    std::uint64_t waiting_bytes_ = 0;  ///< that wait for credits
    std::shared_ptr<LinkKind> own_kind_;
};

}  // namespace switchfold

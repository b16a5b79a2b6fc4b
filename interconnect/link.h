// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/link_kind.h"
#include "interconnect/link_statistics.h"
#include "interconnect/packet.h"
#include "interconnect/packet_sink.h"
#include "sim/core/optional_time.h"
#include "sim/core/prefetch.h"
#include "sim/core/random_stream.h"
#include "sim/core/ring_queue.h"
#include "sim/kernel/scheduler.h"

#include <systemc>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

/// Told when a packet that had to wait for credits gets onto the wire.
class LinkListener {
public:
    virtual void on_departure(std::uint64_t tag, Time departure) = 0;

protected:
    ~LinkListener() = default;
};

/// The fields of a link that every packet touches, packed into three cache lines in the order of
/// use: a large machine's links exceed the cache.
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
    Packet first_;  ///< of those in flight
    std::uint32_t in_flight_ = 0;
    bool cut_through_ = false;
    bool pump_armed_ = false;
    bool errors_expected_ = false;
};

static_assert(sizeof(LinkState) == 3 * 64);

/// One direction of a point-to-point link, with virtual channels and credits. A packet that holds a
/// credit is given its time on the wire at once, in the order of asking; without a credit it waits
/// in the queue of its virtual channel. The end of a busy period is kept to a fraction of a
/// picosecond, so rounding never accumulates. The far end sees a packet when its head arrives (a
/// switch) or when its tail does (an endpoint; of a train of lines, its first line).
class Link final : private LinkState, public sc_core::sc_module {
public:
    Link(const sc_core::sc_module_name& name, std::shared_ptr<LinkKind> kind, std::uint32_t id);

    /// `port` is the sink's own number for this link.
    void bind(PacketSink& sink, std::uint32_t port, bool cut_through) {
        sink_ = &sink;
        port_ = port;
        cut_through_ = cut_through;
    }
    [[nodiscard]] std::uint32_t port() const { return port_; }
    void set_reverse(Link& reverse) { reverse_ = &reverse; }
    [[nodiscard]] Link& reverse() { return *reverse_; }

    /// Sends a packet that is ready at `earliest` (>= now). `upstream` is the link whose buffer it
    /// leaves, or null. \returns when its last byte has left, or nothing if it waits for a credit
    /// (the listener is told then).
    OptionalTime send(
        const Packet& packet,
        Time earliest,
        Link* upstream = nullptr,
        LinkListener* listener = nullptr);

    /// Prefetches the fields that a packet touches.
    void fetch() const { prefetch(static_cast<const LinkState*>(this), sizeof(LinkState)); }

    /// Whether such a packet (of any length) would get a credit now, without waiting.
    [[nodiscard]] bool can_send(PacketKind kind);

    /// Takes wire time for `wire` bytes of a host copy that carry `payload`: no packet, no credit,
    /// in the order of asking with packets. \returns when the last of them has left.
    Time carry(std::uint32_t payload, std::uint32_t wire);

    /// Takes wire time for acknowledgements that travel against the data; they are no packets.
    void add_overhead(std::uint32_t bytes);

    /// Frees a packet's bytes in the far end's buffer at `when`; the credit takes the link's
    /// latency to come back.
    void release(VirtualChannel channel, std::uint32_t bytes, Time when);

    /// Reduces the rate to this share of the one that it was built with, in millionths.
    void degrade(std::uint32_t ppm);
    /// From now on bits are wrong with this probability, drawn from a stream of the link's name.
    void inject_errors(double bit_error_rate, std::uint64_t seed);

    [[nodiscard]] std::uint32_t id() const { return id_; }
    [[nodiscard]] const PacketFormat& format() const { return kind_->params().format; }
    /// Bytes that the acknowledgement of such a packet takes on the way back.
    [[nodiscard]] std::uint32_t acknowledge_bytes(PacketKind kind, std::uint32_t payload) const {
        if (is_store(kind) && !kind_->acknowledges_writes)
            return 0;
        return format().acknowledge_bytes(kind, payload);
    }
    [[nodiscard]] LinkStatistics statistics() const;
    /// Usable bytes a second of all lanes together.
    [[nodiscard]] Bandwidth bandwidth() const { return kind_->bandwidth(); }
    [[nodiscard]] Time latency() const { return Time(kind_->latency); }
    /// When the last byte scheduled so far will have left.
    [[nodiscard]] Time busy_until() const { return Time(busy_until_); }
    [[nodiscard]] std::size_t waiting() const;
    /// Bytes of credit missing from the far end's buffer: 0 when everything was returned.
    [[nodiscard]] std::uint64_t outstanding(VirtualChannel channel) const;

private:
    struct Waiting {
        Packet packet;  ///< its wire bytes and channel are those of the buffer it waits in
        Link* upstream;
        LinkListener* listener;
        std::uint64_t earliest;
    };
    /// Where the next bit error will be.
    struct Errors {
        double log_good_byte;  ///< logarithm of the probability that a byte is right
        RandomStream stream;
        std::uint64_t bytes_left;
    };
    static constexpr std::uint64_t kDeliver = 0;
    static constexpr std::uint64_t kPump = 1;
    static constexpr std::size_t kSinkBytes = 128;

    void on_event(std::uint64_t tag) override;
    void prepare(Prepare step) const override;
    void deliver();
    void pump();
    void collect_credits(std::uint64_t now);
    void arm_pump(std::uint64_t now);
    [[nodiscard]] bool has_credit(std::size_t channel) const;
    void occupy(std::uint64_t start, std::uint32_t bytes);
    /// Takes time of the other direction, which carries no bytes in it.
    void hold_up_reverse(std::uint32_t bytes);
    Time commit(const Packet& packet, std::uint64_t earliest);
    /// A place for a packet that the far end sees at `due` (ps).
    Packet& put_in_flight(std::uint64_t due);
    /// Makes the next one the first. \returns when (ps) it is due
    std::uint64_t next_in_flight();
    OptionalTime wait(const Packet& packet, Time earliest, Link* upstream, LinkListener* listener);
    void replay(std::uint32_t bytes);
    static std::uint64_t bytes_to_next_error(Errors& errors);

    RingQueue<std::uint32_t, 8> later_;  ///< in flight behind the first: their places
    std::uint32_t port_ = 0;
    std::uint32_t id_;
    std::array<RingQueue<Waiting>, kVirtualChannels> waiting_;
    LinkStatistics statistics_;  ///< but for what is counted with every packet
    Link* reverse_ = nullptr;
    std::unique_ptr<Errors> errors_;
    std::shared_ptr<LinkKind> own_kind_;
};

}  // namespace switchfold

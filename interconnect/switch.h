// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/statistics.h"
#include "interconnect/link.h"
#include "interconnect/reduction_unit.h"
#include "interconnect/topology.h"
#include "interconnect/values.h"

#include <systemc>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace switchfold {

class ReductionPolicy;
class Switch;

/// A switch's place in one group's tree.
struct SwitchGroup {
    std::vector<Link*> down;     ///< links to the children; members in rank order
    std::vector<Link*> towards;  ///< by member: the link towards it, or null
    Link* up = nullptr;          ///< towards the root; null at the root
    std::uint32_t leaves = 0;    ///< members below
    std::uint32_t answers = 0;   ///< number of answers to a fetch sent to all children
    bool reduces = true;         ///< false: forwards operands
    bool scatters = false;       ///< a line's sum goes to its home alone
    std::uint32_t tenant = 0;    ///< of the switch's units (UnitTenant)
    bool flushed = false;        ///< its collective gave up: operands are dropped
    Switch* home = nullptr;      ///< of a folded group: the switch whose units add what arrives
    OperandFormat format;
    UnitFormat unit;  ///< what it is for this switch's units
    [[nodiscard]] bool held() const { return !down.empty(); }
};

struct SwitchStatistics {
    std::uint64_t packets = 0;
    std::uint64_t multicast_copies = 0;
    std::uint64_t refused_groups = 0;
    static constexpr auto statistics() {
        using S = SwitchStatistics;
        return list_of(
            statistic("packets", &S::packets, Unit::kCount, "Packets that came in."),
            statistic(
                "multicast_copies", &S::multicast_copies, Unit::kCount,
                "Packets sent for multicast writes and sums, one per child."),
            statistic(
                "refused_groups", &S::refused_groups, Unit::kCount,
                "Groups for which its tables had no room."));
    }
};

/// Forwards packets. An arriving packet occupies the input buffer of its link, queues for its
/// output by virtual channel (so a busy output causes no head-of-line blocking), and frees its
/// space when its tail has left. Outputs serve requests in order. Replicates multicast writes and,
/// with a reduction unit behind every port, reduces:
/// - pull, like NVLS: the unit of the requester's port fans the request out, adds the answers, and
///   returns one sum;
/// - push, after Klenk et al. (ISCA 2020): operands written by members meet in the unit of the port
///   through which their sum leaves (at the root, the port of the line's home). When all have
///   arrived, the root multicasts the sum to every member. A switch below the root sends one
///   partial sum up.
/// Also represents NICs and PCIe switches, which only forward, and host memory, which stores: a
/// packet that has fully arrived there frees its buffer space, however long it waits for its
/// output. The writers' windows bound the amount stored.
class alignas(64) Switch final : public sc_core::sc_module,
                                 public PacketSink,
                                 private EventHandler {
public:
    Switch(
        const sc_core::sc_module_name& name, const SwitchParams& params, ValuePool& values,
        Scheduler& scheduler, bool stores = false);

    /// Attaches a link that arrives here; its reverse departs here.
    void attach(Link& incoming, std::uint32_t lanes);
    /// Admits a group. \returns the reason for rejection; empty on success.
    [[nodiscard]] std::string add_group(std::uint16_t id, SwitchGroup group);
    void remove_group(std::uint16_t id);
    /// Drops the group's open lines, and later operands for them.
    void flush_group(std::uint16_t id);
    /// From now on sums of the group's pushes go to their lines' homes alone.
    void scatter(std::uint16_t id) { group(id).scatters = true; }
    /// Bytes of pushed lines that the group can have open here at once, if their homes rotate.
    [[nodiscard]] std::uint64_t push_room(std::uint16_t id);
    /// From now on every reduction here reports a time-out instead of a sum.
    void fail_reductions() { failed_ = true; }

    OptionalTime accept(const Packet& packet, Link& from) override;

    [[nodiscard]] const SwitchParams& params() const { return params_; }
    [[nodiscard]] std::span<Link* const> incoming() const { return incoming_; }
    /// Null if the switch cannot reduce.
    [[nodiscard]] const ReductionUnit* unit(std::size_t port) const {
        return ports_[port].unit.get();
    }
    [[nodiscard]] std::size_t stalled_requests() const;
    [[nodiscard]] const SwitchStatistics& statistics() const { return statistics_; }
    /// Says from now on whose partial sum leaves a full unit here, in place of `when_full`.
    void set_reduction_policy(std::shared_ptr<const ReductionPolicy> policy);
    [[nodiscard]] bool reductions_failed() const { return failed_; }

private:
    /// A packet in its input buffer that waits for lines of the reduction unit.
    struct Stalled {
        Packet packet;  ///< its wire bytes: those that are still in the buffer
        Link* from = nullptr;
        Time since;
        std::uint32_t opened = 0;  ///< bytes from its begin on that have found room
        std::uint32_t request = ReductionUnit::kNone;  ///< the unit's, where some have
    };
    struct Port {
        Link* in = nullptr;
        Link* out = nullptr;
        std::unique_ptr<ReductionUnit> unit;
        std::array<RingQueue<Stalled>, kTreeRoles> stalled;
        bool timer_armed = false;
        RingQueue<Stalled>& stalled_as(TreeRole role) {
            return stalled[static_cast<std::size_t>(role)];
        }
    };
    /// Sums of a train's lines that the same operands completed: they leave as one train.
    struct SumTrain {
        struct Line {
            std::uint32_t port;
            std::uint32_t index;
            ReductionUnit::Span ready;
        };
        std::array<Line, kLinesInTrain> lines;
        std::uint32_t count = 0;
    };
    void on_event(std::uint64_t tag) override;
    OptionalTime forward(const Packet& packet, Link& from);
    OptionalTime pass(const Packet& packet, Link& from, Link& out);
    OptionalTime copy(const Packet& packet, Link& from, bool acknowledge);
    OptionalTime accept_fetch(const Packet& packet, Link& from);
    Time accept_answer(const Packet& packet, Link& from);
    OptionalTime accept_push(const Packet& packet, Link& from);
    OptionalTime accept_train(const Packet& train, Link& from);
    [[nodiscard]] Packet line_of(const Packet& train, std::uint32_t index);
    bool open_pull(std::uint32_t port, const Packet& packet);
    /// Opens as much as finds room of a request that waits. \returns whether that is all of it.
    bool open_rest(std::uint32_t port, Stalled& waiting);
    bool give_up_rest(std::uint32_t port, Stalled& waiting);
    /// The line's failure is reported after the time-out.
    void time_out(std::uint32_t port, std::uint32_t line);
    void fetch(std::uint32_t port, std::uint32_t line, const Packet& part, std::uint32_t begin);
    void end_part(std::uint32_t port, std::uint32_t part);
    void gather_parts(ReductionUnit::Line& request);
    /// Result of the push, with the time at which a complete sum can leave; nothing if there is no
    /// room.
    std::optional<ReductionUnit::Push> add_push(std::uint32_t port, const Packet& packet, Time now);
    bool merge_push(std::uint32_t port, const Packet& packet, Time now);
    void stall(std::uint32_t port, TreeRole role, const Stalled& waiting);
    void evict_for(std::uint32_t port, TreeRole role);
    bool evict_for(std::uint32_t port, TreeRole role, const Packet& waiting);
    void arm_timer(std::uint32_t port);
    void expire(std::uint32_t port);
    Time leaves_at(std::uint32_t port, std::uint32_t line, ReductionUnit::Span ready);
    void stream_out(std::uint32_t port, std::uint32_t line, ReductionUnit::Span ready);
    void leave_together(const SumTrain& sums);
    void post_train(Time start, std::uint32_t train);
    void line_ready(std::uint32_t port, std::uint32_t line);
    void train_ready(std::uint32_t train);
    void send_line(std::uint32_t port, std::uint32_t line);
    /// Closes the line. \returns its sum, complete or partial.
    Packet close_line(Port& port, std::uint32_t line);
    void copy_down(const Packet& sum);
    void send_sum(const Packet& sum);
    void drain(std::uint32_t port, TreeRole role);
    void merge_stalled(std::uint32_t port, TreeRole role, const Packet& like);
    static TreeRole role_in(const SwitchGroup& group) {
        return group.up == nullptr ? TreeRole::kRoot : TreeRole::kBelow;
    }
    [[nodiscard]] std::uint32_t push_port(const SwitchGroup& group, const Packet& packet) const;
    [[nodiscard]] std::string
    why_refused(std::uint16_t id, const OperandFormat& format, std::uint32_t tenant);
    /// Whether packets wait that are to be served before this one.
    [[nodiscard]] bool must_wait(std::uint32_t port, TreeRole role, const Packet& packet) {
        auto& queue = ports_[port].stalled_as(role);
        return !queue.empty() && (!ordered_ || waits_behind(port, role, packet));
    }
    [[nodiscard]] bool waits_behind(std::uint32_t port, TreeRole role, const Packet& packet);
    /// The next in order, from the head on, that does not wait behind others: its place in the
    /// queue; the queue's length if there is none. `tried`: places not to name.
    [[nodiscard]] std::size_t
    next_in_order(std::uint32_t port, TreeRole role, const std::vector<bool>& tried);
    void drain_in_order(std::uint32_t port, TreeRole role);
    /// Serves what waits at a place. \returns whether it left the queue.
    bool serve(std::uint32_t port, TreeRole role, std::size_t place);
    SwitchGroup& group(std::uint16_t id) {
        if (id >= groups_.size() || !groups_[id].held()) [[unlikely]]
            no_group(id);
        return groups_[id];
    }
    void no_group(std::uint16_t id) const;

    // Fields that every packet needs come first.
    Scheduler& scheduler_;
    bool stores_;
    SwitchStatistics statistics_;
    SwitchParams params_;
    ValuePool& values_;
    std::vector<Port> ports_;
    std::vector<Link*> incoming_;
    std::vector<SwitchGroup> groups_;
    std::vector<SumTrain> trains_;
    std::vector<std::uint32_t> free_trains_;
    std::uint32_t groups_held_ = 0;
    bool failed_ = false;
    bool ordered_ = false;  ///< what waits is not served as it came
    std::shared_ptr<const ReductionPolicy> policy_;
};

}  // namespace switchfold

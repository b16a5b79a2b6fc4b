// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/packet.h"
#include "interconnect/reduction_parameters.h"
#include "sim/core/statistics.h"
#include "sim/core/units.h"

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace switchfold {

/// A switch below the root of one group may be the root of another, and each would wait for
/// entries that the other holds: lines below the root have a table of their own (NVSwitch 3: two
/// sets of entries, by virtual channel). They wait for members or for switches still further below.
enum class TreeRole : std::uint8_t { kRoot, kBelow };
inline constexpr std::size_t kTreeRoles = 2;

struct ReductionUnitStatistics {
    std::uint64_t reductions = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t stalled_requests = 0;
    Time stall_time;
    std::uint64_t evictions = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t peak_entries = 0;
    Time busy_time;
    static constexpr auto statistics() {
        using S = ReductionUnitStatistics;
        return std::tuple{
            statistic("reductions", &S::reductions, Unit::kCount, "Sums that left complete."),
            statistic("bytes_in", &S::bytes_in, Unit::kBytes, "Operands added."),
            statistic("bytes_out", &S::bytes_out, Unit::kBytes, "Complete sums sent."),
            statistic(
                "stalled_requests",
                &S::stalled_requests,
                Unit::kCount,
                "Packets that had to wait for a free entry or buffer."),
            statistic(
                "stall_us",
                &S::stall_time,
                Unit::kMicroseconds,
                "How long these waited, all together."),
            statistic(
                "evictions",
                &S::evictions,
                Unit::kCount,
                "Partial sums sent on to make room for other lines."),
            statistic(
                "timeouts",
                &S::timeouts,
                Unit::kCount,
                "Lines that waited too long for operands, or met a failed unit."),
            statistic(
                "peak_entries",
                &S::peak_entries,
                Unit::kCount,
                "Most entries in use at the same time."),
            statistic("busy_us", &S::busy_time, Unit::kMicroseconds, "Time that adders worked.")};
    }
};

/// The table of open lines of one port bundle, its buffer and its adders. A line is open for a pull
/// (a request whose answers are awaited) or for a push (operands that arrive by themselves, found
/// by group, client and tag). It keeps no clock: the switch says what time it is.
class ReductionUnit {
public:
    struct Line {
        Packet packet;                      ///< pull: the request; push: the first operands
        std::uint32_t missing = 0;          ///< answers, or members' operands
        std::uint32_t count = 0;            ///< members whose operands are in
        std::vector<std::uint32_t> values;  ///< functional mode: operands
        Time touched;
        Time added;                   ///< when the adders are through with the operands that are in
        Time tail;                    ///< a sum on its way out: when its last byte can leave
        std::uint32_t older = kNone;  ///< push: neighbours in the order of last operands
        std::uint32_t newer = kNone;
        TreeRole role = TreeRole::kRoot;
        bool open = false;
        bool push = false;
        bool leaving = false;  ///< takes no operands any more
        bool failed = false;
    };
    /// When the first and the last byte of a sum can leave.
    struct Span {
        Time first;
        Time last;
    };
    /// What a push came to.
    struct Push {
        std::uint32_t line = 0;
        std::optional<Span> ready;  ///< of the complete sum
        bool fresh = false;         ///< it opened the line
    };
    static constexpr std::uint32_t kNone = UINT32_MAX;

    ReductionUnit(const ReductionUnitParams& params, std::uint32_t lanes);

    /// Sets entries aside for a group, where the unit refuses groups it cannot serve. \returns
    /// false if too few are left.
    [[nodiscard]] bool admit(std::uint16_t group);
    void dismiss(std::uint16_t group);

    /// Opens a line for a request that brings `answers`. `widening`: of its partial sum.
    /// \returns its index, or nothing when entries or buffer are exhausted.
    std::optional<std::uint32_t>
    open(const Packet& request, TreeRole role, std::uint32_t answers, std::uint32_t widening);
    /// Adds one answer as it streams in from `now` to its tail. \returns when the sum is ready if
    /// this was the last one.
    std::optional<Span> add(std::uint32_t line, const Packet& answer, Time now);

    /// Bytes of lines that a group may have open in one role, however wide their sums.
    [[nodiscard]] std::uint64_t room_of(std::uint16_t group, std::uint32_t widening) const;

    /// Gives up a pull: its sum is word of a time-out.
    void fail(std::uint32_t line);

    /// Adds pushed operands, as they stream in, to their line, which is complete with those of
    /// `members`; opens it if need be. \returns nothing when there is no room.
    std::optional<Push> push(
        const Packet& operands,
        TreeRole role,
        std::uint32_t members,
        std::uint32_t widening,
        Time now);
    /// Whether operands like these have a line that takes them.
    [[nodiscard]] bool has_line(const Packet& operands) const {
        return lines_of_pushes_.contains(key(operands));
    }
    /// The pushed line that was touched longest ago; kNone without one that could leave.
    [[nodiscard]] std::uint32_t oldest(TreeRole role) const { return table(role).oldest; }
    /// Closes the line to operands. \returns when its partial sum can leave.
    Time expel(std::uint32_t line, Time now);
    void note_eviction() { ++statistics_.evictions; }
    void note_timeout() { ++statistics_.timeouts; }

    /// Gives the entries and the buffer back.
    void close(std::uint32_t line, bool complete);

    void note_stall() { ++statistics_.stalled_requests; }
    void note_stall_end(Time waited) { statistics_.stall_time += waited; }
    /// Whether lines are on their way out, so that room will come by itself.
    [[nodiscard]] bool leaving(TreeRole role) const { return table(role).leaving > 0; }
    [[nodiscard]] Line& line(std::uint32_t index) { return lines_[index]; }
    [[nodiscard]] const Line& line(std::uint32_t index) const { return lines_[index]; }
    [[nodiscard]] std::size_t lines() const { return lines_.size(); }
    [[nodiscard]] std::uint32_t entries_used() const {
        return tables_[0].entries_used + tables_[1].entries_used;
    }
    [[nodiscard]] const ReductionUnitStatistics& statistics() const { return statistics_; }

private:
    struct Key {
        std::uint64_t tag;
        std::uint64_t owner;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& k) const {
            return static_cast<std::size_t>((k.tag ^ (k.owner << 7U)) * 0x9E3779B97F4A7C15ULL);
        }
    };
    struct Quota {
        std::uint16_t group;
        std::array<std::uint32_t, kTreeRoles> used;
    };
    /// What one role has of the unit, each as much as the parameters say.
    struct Table {
        std::uint32_t oldest = kNone;
        std::uint32_t newest = kNone;
        std::uint32_t leaving = 0;
        std::uint32_t entries_used = 0;
        std::uint64_t buffer_used = 0;
    };
    static Key key(const Packet& p) { return {p.tag, std::uint64_t{p.client} << 16U | p.group}; }
    [[nodiscard]] std::uint32_t entries_for(std::uint32_t payload) const;
    [[nodiscard]] const Table& table(TreeRole role) const {
        return tables_[static_cast<std::size_t>(role)];
    }
    Table& table(TreeRole role) { return tables_[static_cast<std::size_t>(role)]; }
    [[nodiscard]] bool room(const Packet& packet, TreeRole role, std::uint32_t bytes) const;
    std::uint32_t take(const Packet& packet, TreeRole role, std::uint32_t bytes);
    Span through_adder(const Packet& operands, Time now);
    void append(std::uint32_t index);
    void unlink(std::uint32_t index);
    Quota* quota(std::uint16_t group);

    ReductionUnitParams params_;
    std::uint64_t entries_;
    std::uint64_t buffer_;
    Bandwidth adder_rate_;
    ReductionUnitStatistics statistics_;
    std::vector<Line> lines_;
    std::vector<std::uint32_t> line_bytes_;
    std::vector<std::uint32_t> free_;
    std::unordered_map<Key, std::uint32_t, KeyHash> lines_of_pushes_;
    std::vector<Quota> quotas_;  ///< of admitted groups, where groups can be refused
    std::array<Table, kTreeRoles> tables_;
    Time adder_free_;
    // Most operands are as long as those before them.
    std::uint32_t timed_payload_ = 0;
    Time payload_time_;  ///< in which the adders take so much
    Time line_time_;     ///< and its first line
};

}  // namespace switchfold

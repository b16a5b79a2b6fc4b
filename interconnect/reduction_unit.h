// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/statistics.h"
#include "core/units.h"
#include "interconnect/packet.h"
#include "interconnect/reduction_parameters.h"

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace switchfold {

/// A switch below the root for one group may be the root for another, and each could wait for
/// entries held by the other. To prevent deadlock, lines below the root have a separate table
/// (NVSwitch 3: two sets of entries, by virtual channel); they wait only for members or for
/// switches further below.
enum class TreeRole : std::uint8_t { kRoot, kBelow };
inline constexpr std::size_t kTreeRoles = 2;

/// What a unit has to know of a group's operands.
struct UnitFormat {
    /// Operands as wide as their elements; `widening`: of partial sums.
    constexpr UnitFormat(std::uint32_t widening = 1, ElementType type = ElementType::kFloat32) :
        // NOLINT(google-explicit-constructor)
        partial_sums(static_cast<std::uint8_t>(widening)),
        timing(static_cast<std::uint16_t>(1U << 8U | static_cast<unsigned>(type))) {}
    constexpr UnitFormat(ElementType type) :
        UnitFormat(1, type) {}  // NOLINT(google-explicit-constructor)
    UnitFormat(const OperandFormat& format, Accumulation accumulation);
    /// Which of the unit's rates.
    [[nodiscard]] std::size_t adder() const { return timing & 0xFFU; }
    /// Width of operands.
    [[nodiscard]] std::uint8_t operands() const { return static_cast<std::uint8_t>(timing >> 8U); }
    std::uint8_t partial_sums;  ///< width of those in the table
    std::uint8_t sums = 1;      ///< of complete ones
    std::uint8_t line = 1;      ///< elements' bytes in a byte of a line
    std::uint16_t timing;       ///< operands() and adder()
};

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
        return list_of(
            statistic("reductions", &S::reductions, Unit::kCount, "Sums that left complete."),
            statistic("bytes_in", &S::bytes_in, Unit::kBytes, "Operands added."),
            statistic("bytes_out", &S::bytes_out, Unit::kBytes, "Complete sums sent."),
            statistic(
                "stalled_requests", &S::stalled_requests, Unit::kCount,
                "Packets that had to wait for a free entry or buffer."),
            statistic(
                "stall_us", &S::stall_time, Unit::kMicroseconds, "Total time that these waited."),
            statistic(
                "evictions", &S::evictions, Unit::kCount,
                "Partial sums sent on to make room for other lines."),
            statistic(
                "timeouts", &S::timeouts, Unit::kCount,
                "Lines whose operands timed out, or whose unit had failed."),
            peak_statistic(
                "peak_entries", &S::peak_entries, Unit::kCount,
                "Most entries in use at the same time."),
            statistic("busy_us", &S::busy_time, Unit::kMicroseconds, "Time that adders worked."));
    }
};

/// What entries waited for, where ReductionUnitParams::watch_entries asks for it: sums over the
/// lines that left. Only what was simulated counts: `exact` simulates all.
struct EntryStatistics {
    std::uint64_t lines = 0;
    Time members;
    Time adders;
    Time output;
    static constexpr auto statistics() {
        using S = EntryStatistics;
        return list_of(
            statistic(
                "lines", &S::lines, Unit::kCount, "Lines, or requests of several, that left."),
            statistic(
                "members_us", &S::members, Unit::kMicroseconds,
                "Time that they were open until the last operand came."),
            statistic(
                "adders_us", &S::adders, Unit::kMicroseconds,
                "Time from there until the sum was ready: adders and latency."),
            statistic(
                "output_us", &S::output, Unit::kMicroseconds,
                "Time from there until the sum left and the entry was free."));
    }
};

/// The table of open lines of one port bundle, its buffer and its adders. A line is open for a pull
/// (a request awaiting answers) or for a push (operands that arrive unrequested, identified by
/// group, client and tag). What is called a line here may be several of the unit's (`line` bytes
/// each), which take an entry each and travel in one packet. A request that finds entries for some
/// of its lines only is opened in parts. The unit has no clock: the switch passes the time.
class ReductionUnit {
public:
    struct Line {
        Packet packet;  ///< pull: the request; push: the first operands; as wide as the sum
        std::uint32_t missing = 0;          ///< missing answers, or members' operands
        std::uint32_t count = 0;            ///< members whose operands have arrived
        std::vector<std::uint32_t> values;  ///< functional mode: operands
        Time touched;
        Time added;  ///< when the adders finish the operands received
        Time tail;   ///< for a departing sum: when its last byte can leave
        Time opened;
        Time complete;                ///< when the last operand came
        std::uint32_t older = kNone;  ///< push: neighbours in the order of the last operands
        std::uint32_t newer = kNone;
        TreeRole role = TreeRole::kRoot;
        bool open = false;
        bool push = false;
        bool leaving = false;  ///< accepts no more operands
        bool failed = false;
        std::uint32_t request = kNone;  ///< the one of which this is a part
        std::uint32_t number = 0;       ///< of a part; of a request in parts, how many there are
        std::uint32_t left = 0;         ///< of a request in parts: bytes without a sum
    };
    /// When the first and the last byte of a sum can leave.
    struct Span {
        Time first;
        Time last;
    };
    /// Result of a push.
    struct Push {
        std::uint32_t line = 0;
        std::optional<Span> ready;  ///< when the complete sum can leave
        bool fresh = false;         ///< whether it opened the line
    };
    static constexpr std::uint32_t kNone = UINT32_MAX;

    ReductionUnit(const ReductionUnitParams& params, std::uint32_t of_port);

    /// Reserves entries for a group, if the unit is configured to reject groups. \returns false if
    /// too few are left.
    [[nodiscard]] bool admit(std::uint16_t group, std::uint32_t tenant = 0);
    void dismiss(std::uint16_t group);
    /// Index of the group's tenant; as many as there are for groups of none.
    [[nodiscard]] std::uint32_t tenant_of_group(std::uint16_t group) const {
        return group < tenants_.size() ? tenants_[group] : 0;
    }
    /// Whether two groups take each other's entries.
    [[nodiscard]] bool share_entries(std::uint16_t a, std::uint16_t b) const {
        return shares_.empty() || share_of(a) == share_of(b);
    }

    /// Opens a line for a request with `answers` answers.
    /// \returns its index, or nothing if there is no room for all of it.
    std::optional<std::uint32_t> open(
        const Packet& request, TreeRole role, std::uint32_t answers, const UnitFormat& format,
        Time now = {});
    /// Bytes of such a request for which there is room: all, or as many lines as find entries.
    [[nodiscard]] std::uint32_t
    fits(const Packet& request, TreeRole role, const UnitFormat& format) const;
    /// Notes a request whose lines do not fit at once: its parts are opened as there is room, and
    /// its sum leaves when the last one's can. It has no entry of its own. \returns its index.
    std::uint32_t divide(const Packet& request, TreeRole role);
    /// Opens the next part, of the length that the packet says.
    std::uint32_t open_part(
        std::uint32_t request, const Packet& part, std::uint32_t answers, const UnitFormat& format,
        Time now = {});
    /// A part has been closed with this sum, or will not be opened. \returns whether the request
    /// has all of its own.
    bool note_part(std::uint32_t request, std::uint32_t bytes, bool failed);
    /// Adds an answer that streams in from `now` to its tail. \returns when the sum can leave, if
    /// this was the last answer.
    std::optional<Span>
    add(std::uint32_t line, const Packet& answer, Time now, const UnitFormat& format = {});

    /// Bytes of lines that a group may have open in one role.
    [[nodiscard]] std::uint64_t room_of(std::uint16_t group, const UnitFormat& format) const;

    /// Aborts a pull: its sum signals a time-out.
    void fail(std::uint32_t line);

    /// Adds pushed operands, as they stream in, to their line; opens it if necessary. The line is
    /// complete with the operands of `members`. \returns nothing if there is no room. Operands of
    /// more lines than the table has pass alone: who pushes where tables may be full pushes lines.
    std::optional<Push> push(
        const Packet& operands, TreeRole role, std::uint32_t members, const UnitFormat& format,
        Time now);
    /// Whether there is a line that accepts these operands.
    [[nodiscard]] bool has_line(const Packet& operands) const {
        return lines_of_pushes_.contains(key(operands));
    }
    /// The least recently touched pushed line; kNone if none can leave.
    [[nodiscard]] std::uint32_t oldest(TreeRole role) const { return table(role).oldest; }
    /// Closes the line to operands. \returns when its partial sum can leave.
    Time expel(std::uint32_t line, Time now);
    void note_eviction() { ++statistics_.evictions; }
    void note_timeout() { ++statistics_.timeouts; }

    /// Frees the line's entries and buffer. `width`: of its sum.
    void close(std::uint32_t line, bool complete, std::uint8_t width = 1, Time now = {});

    void note_stall() { ++statistics_.stalled_requests; }
    void note_stall_end(Time waited) { statistics_.stall_time += waited; }
    /// Whether lines are departing, so that room will become free without further action.
    [[nodiscard]] bool leaving(TreeRole role) const { return table(role).leaving > 0; }
    [[nodiscard]] Line& line(std::uint32_t index) { return lines_[index]; }
    [[nodiscard]] const Line& line(std::uint32_t index) const { return lines_[index]; }
    [[nodiscard]] std::size_t lines() const { return lines_.size(); }
    [[nodiscard]] std::uint32_t entries_used() const {
        return tables_[0].entries_used + tables_[1].entries_used;
    }
    [[nodiscard]] const ReductionUnitStatistics& statistics() const { return statistics_; }
    /// Null unless entries are watched.
    [[nodiscard]] const EntryStatistics* entry_statistics() const {
        return params_.watch_entries.value_or(false) ? &entry_statistics_ : nullptr;
    }

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
    /// What some tenants' lines may take: a quota, or what quotas leave.
    struct Share {
        std::uint64_t entries = 0;
        std::uint64_t buffer = 0;
        std::array<std::uint64_t, kTreeRoles> entries_used{};
        std::array<std::uint64_t, kTreeRoles> buffer_used{};
    };
    /// Resources of one role, each as large as the parameters say.
    struct Table {
        std::uint32_t oldest = kNone;
        std::uint32_t newest = kNone;
        std::uint32_t leaving = 0;
        std::uint32_t entries_used = 0;
        std::uint64_t buffer_used = 0;
    };
    /// Entries and bytes of the buffer that a line has.
    struct Held {
        std::uint32_t entries = 0;
        std::uint32_t bytes = 0;
    };
    static Key key(const Packet& p) { return {p.tag, std::uint64_t{p.client} << 16U | p.group}; }
    void make_shares();
    [[nodiscard]] std::size_t share_of(std::uint16_t group) const {
        return share_of_tenant_[tenants_[group]];
    }
    [[nodiscard]] Held held_by(std::uint32_t payload, const UnitFormat& format) const;
    [[nodiscard]] const Table& table(TreeRole role) const {
        return tables_[static_cast<std::size_t>(role)];
    }
    Table& table(TreeRole role) { return tables_[static_cast<std::size_t>(role)]; }
    /// `alone`: may pass where nothing else is open, however large it is.
    [[nodiscard]] bool room(const Packet& packet, TreeRole role, Held held, bool alone) const;
    std::uint32_t new_line(const Packet& packet, TreeRole role);
    std::uint32_t take(const Packet& packet, TreeRole role, Held held);
    Span through_adder(const Packet& operands, Time now, const UnitFormat& format);
    void append(std::uint32_t index);
    void unlink(std::uint32_t index);

    ReductionUnitParams params_;
    std::uint64_t entries_ = 0;
    std::uint64_t buffer_ = 0;
    /// By element type; then those of 8-bit numbers that stand for elements of these types.
    std::array<Bandwidth, 2 * EnumNames<ElementType>::kNames.size()> adder_rates_;
    ReductionUnitStatistics statistics_;
    std::vector<Line> lines_;
    std::vector<Held> held_;  ///< by line
    std::vector<std::uint32_t> free_;
    std::unordered_map<Key, std::uint32_t, KeyHash> lines_of_pushes_;
    std::vector<Quota> quotas_;  ///< of admitted groups, if groups can be rejected
    std::vector<Share> shares_;  ///< if there are tenants; the last one is what quotas leave
    std::vector<std::size_t> share_of_tenant_;
    std::vector<std::uint32_t> tenants_;  ///< by group, if there are tenants
    EntryStatistics entry_statistics_;
    std::array<Table, kTreeRoles> tables_;
    Time adder_free_;
    // Cached, since most operands have the same length as the previous ones.
    std::uint32_t timed_payload_ = 0;
    std::uint16_t timed_ = 0;        ///< UnitFormat::timing
    std::uint32_t timed_bytes_ = 0;  ///< that travel of that payload
    Time payload_time_;              ///< time of the adders for that payload
    Time line_time_;                 ///< and for its first line
};

}  // namespace switchfold

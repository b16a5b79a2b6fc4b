// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/packet.h"
#include "sim/core/params.h"
#include "sim/core/statistics.h"
#include "sim/core/units.h"

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace switchfold {

/// The reduction unit behind one switch port (one lane); a bundle of lanes has as many.
struct ReductionUnitParams {
    std::uint32_t entries = 256;
    Bytes buffer = kibibytes(128);
    Bytes line{128};
    Bandwidth adder_rate = gigabytes_per_second(25);
    Time latency = nanoseconds(50);
    std::uint32_t max_groups = 128;
    std::uint32_t max_members = 64;

    static constexpr auto fields() {
        return std::tuple{
            field(
                "entries",
                &ReductionUnitParams::entries,
                "Reductions of one line that can be open at once.",
                1U,
                1U << 20U),
            field(
                "buffer",
                &ReductionUnitParams::buffer,
                "Bytes of partial sums that can be held.",
                Bytes(128),
                mebibytes(1024)),
            field(
                "line",
                &ReductionUnitParams::line,
                "Bytes that one entry covers.",
                Bytes(16),
                Bytes(65536)),
            field(
                "adder_rate",
                &ReductionUnitParams::adder_rate,
                "Bytes of members' answers that are added a second.",
                Bandwidth(1'000'000),
                gigabytes_per_second(100'000)),
            field(
                "latency",
                &ReductionUnitParams::latency,
                "Last answer in to first byte of the sum out.",
                Time(0),
                microseconds(1000)),
            field(
                "max_groups",
                &ReductionUnitParams::max_groups,
                "Multicast groups that a switch can hold.",
                1U,
                65'535U),
            field(
                "max_members",
                &ReductionUnitParams::max_members,
                "Members that a group can have.",
                1U,
                65'535U)};
    }
};

struct ReductionUnitStatistics {
    std::uint64_t reductions = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t stalled_requests = 0;
    std::uint64_t peak_entries = 0;
    static constexpr auto statistics() {
        using S = ReductionUnitStatistics;
        return std::tuple{
            statistic("reductions", &S::reductions, Unit::kCount, "Results finished."),
            statistic("bytes_in", &S::bytes_in, Unit::kBytes, "Members' answers taken in."),
            statistic("bytes_out", &S::bytes_out, Unit::kBytes, "Results sent."),
            statistic(
                "stalled_requests",
                &S::stalled_requests,
                Unit::kCount,
                "Requests that had to wait for a free entry or buffer."),
            statistic(
                "peak_entries",
                &S::peak_entries,
                Unit::kCount,
                "Most entries in use at the same time.")};
    }
};

/// The table of open reductions of one port bundle: who asked, how many answers are missing, when
/// the adder is free. It keeps no clock: the switch says what time it is.
class ReductionUnit {
public:
    struct Session {
        Packet request;
        std::uint32_t missing = 0;
        std::vector<std::uint32_t> values;  ///< functional mode: a handle for each member
        bool open = false;
    };

    ReductionUnit(const ReductionUnitParams& params, std::uint32_t lanes);

    /// Opens a session for a request that `members` will answer.
    /// \returns its index, or nothing when entries or buffer are exhausted.
    std::optional<std::uint32_t> open(const Packet& request, std::uint32_t members);
    /// Adds one answer. \returns when the sum is ready if this was the last one.
    std::optional<Time> add(std::uint32_t session, std::uint32_t payload, Time now);
    /// Gives the entries and the buffer back.
    void close(std::uint32_t session);

    void note_stall() { ++statistics_.stalled_requests; }
    [[nodiscard]] Session& session(std::uint32_t index) { return sessions_[index]; }
    [[nodiscard]] std::uint32_t entries_used() const { return entries_used_; }
    [[nodiscard]] const ReductionUnitStatistics& statistics() const { return statistics_; }

private:
    [[nodiscard]] std::uint32_t lines(std::uint32_t payload) const;

    ReductionUnitParams params_;
    std::uint64_t entries_;
    std::uint64_t buffer_;
    Bandwidth adder_rate_;
    ReductionUnitStatistics statistics_;
    std::vector<Session> sessions_;
    std::vector<std::uint32_t> free_;
    std::uint32_t entries_used_ = 0;
    std::uint64_t buffer_used_ = 0;
    Time adder_free_;
};

}  // namespace switchfold

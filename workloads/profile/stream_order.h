// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

namespace switchfold {

/// Infers what a GPU operation waited for on other streams, because traces do not state which event
/// a stream waits for. A collective waits for the stream that was current when it was issued (c10d
/// records an event there first), and for what ended on other streams right before it started, if
/// it could have begun before. An operation launched after a wait waits for the oldest collective
/// not yet waited for, and for whatever ended right before it started. Dependencies that contradict
/// the measured times are left out.
class StreamOrder {
public:
    explicit StreamOrder(RawTrace& raw);

    /// Raw indices of the operations that `index` waited for, apart from the previous one on its
    /// stream. Call once per operation, in launch order.
    [[nodiscard]] std::vector<std::size_t> add(std::size_t index);

private:
    struct Stream {
        BigVector<std::uint32_t> launched;
        std::deque<std::size_t> not_waited_for;  ///< collectives
        bool communicates = false;
    };
    static constexpr std::size_t kNone = SIZE_MAX;

    [[nodiscard]] std::uint64_t end_of(std::size_t index) const;
    [[nodiscard]] bool in_order(std::size_t before, std::size_t after) const;
    /// The last operation launched on `stream` that had ended when `index` started.
    std::size_t last_before(const Stream& stream, std::size_t index);
    /// Number of stream waits that the launching thread issued since its last launch.
    std::size_t waits_before(const RawGpuEvent& gpu);
    /// Number of consecutive waits around `time` without a collective between them.
    [[nodiscard]] std::size_t waits_in_a_row(std::uint64_t time) const;
    [[nodiscard]] std::size_t last_ended(const Stream& other, const RawGpuEvent& gpu) const;
    /// Whether an operation that was `ready` began as the other stream's one ended.
    [[nodiscard]] bool
    waited_for(std::size_t other, const RawGpuEvent& gpu, std::uint64_t ready) const;
    [[nodiscard]] std::vector<std::size_t> for_communication(
        const Stream& own, const RawGpuEvent& gpu, std::uint64_t ready,
        const std::vector<std::size_t>& known) const;
    std::vector<std::size_t> waited_collectives(
        Stream& stream, std::size_t index, std::uint64_t previous_end, std::size_t waits);

    RawTrace& raw_;
    BigVector<std::uint64_t> waits_;          ///< times of waits that issue no collective
    std::vector<std::uint64_t> collectives_;  ///< launch times
    std::vector<Stream> streams_;             ///< as RawTrace::streams
    std::map<std::uint32_t, std::uint64_t> last_launch_;  ///< by thread
    std::map<std::uint32_t, std::uint32_t>
        current_;  ///< by thread: the stream of its last operation that is no collective
};

}  // namespace switchfold

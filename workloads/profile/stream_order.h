// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

namespace switchfold {

/// Finds what a GPU operation waited for on other streams. Traces do not say which event a stream
/// waits for, so this infers it: a collective waits for the stream that was current when it was
/// issued (c10d records an event there first); an operation launched after a wait waits for the
/// oldest collective that nobody has waited for yet, and for whatever ended right before it
/// started. What the measured times contradict is left out.
class StreamOrder {
public:
    explicit StreamOrder(RawTrace& raw);

    /// Raw indices of what `index` waited for beside the operation before it on its stream. Call in
    /// launch order, once each.
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
    /// The last operation launched on a stream that had ended when `index` started.
    std::size_t last_before(const Stream& stream, std::size_t index);
    /// How often the thread made its stream wait since it last launched something.
    std::size_t waits_before(const RawGpuEvent& gpu);
    /// How many waits follow each other around a time without a collective between them.
    [[nodiscard]] std::size_t waits_in_a_row(std::uint64_t time) const;
    std::size_t waited_collective(Stream& stream, std::size_t index, std::uint64_t previous_end);

    RawTrace& raw_;
    BigVector<std::uint64_t> waits_;          ///< times of those that issue no collective
    std::vector<std::uint64_t> collectives_;  ///< launch times
    std::vector<Stream> streams_;             ///< as RawTrace::streams
    std::map<std::uint32_t, std::uint64_t> last_launch_;  ///< by thread
    std::map<std::uint32_t, std::uint32_t>
        current_;  ///< by thread: its stream for what is no collective
};

}  // namespace switchfold

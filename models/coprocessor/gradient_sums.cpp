// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/gradient_sums.h"

#include "models/coprocessor/memory_rate.h"
#include "models/coprocessor/region_clock.h"
#include "models/coprocessor/work_time.h"

#include <algorithm>
#include <cstdint>

namespace switchfold {

namespace {

constexpr std::uint64_t kFloat = 4;  // bytes

/// Whether the copies are in caches and cause no memory traffic.
bool in_caches(std::uint64_t bytes, const ProcessorParams& processor, const ThreadLayout& layout) {
    const std::uint64_t own = processor.cache.private_capacity.count() / 2 * layout.cores;
    return bytes <= own + processor.cache.shared_capacity.count() / 2;
}

}  // namespace

double sum_seconds(
    const offload::AtomicSum& sum, const ProcessorParams& processor, const ThreadLayout& layout) {
    const std::uint64_t of_line = processor.cache.line / kFloat;
    const std::uint64_t lines = (sum.elements + of_line - 1) / of_line;
    const std::uint64_t of_thread = (lines + layout.threads_of_team - 1) / layout.threads_of_team;
    const double clock = static_cast<double>(processor.clock.count());
    const double adds = static_cast<double>(of_line) * processor.cache.atomic_cycles / clock;
    // With a single team no line leaves its core.
    const double flight = layout.teams() > 1 ? to_seconds(processor.cache.remote_latency) : 0;
    // A line moves from one team to the next; a thread works through its lines one by one.
    const std::uint64_t turns = std::max<std::uint64_t>(of_thread, layout.teams());
    return static_cast<double>(turns) * (flight + adds);
}

double sum_seconds(
    const offload::TreeSum& sum, const ProcessorParams& processor, const ThreadLayout& layout) {
    const SharedRates rates{
        [&](double streams) { return memory_rate(processor, streams); }, ring_rate(processor)};
    double seconds = 0;
    const std::uint64_t bytes = sum.elements * kFloat;
    for (std::uint64_t copies = layout.teams(); copies > 1; copies = (copies + 1) / 2) {
        offload::ElementLoop level;
        level.elements = copies / 2 * sum.elements;
        level.bytes_read = 2 * kFloat;
        level.bytes_written = kFloat;
        level.arrays = 2;
        level.operations = 1;
        level.from_other_teams = in_caches(copies * bytes, processor, layout);
        seconds += barrier_seconds(processor, layout.threads()) +
                   region_seconds(groups_of(level, processor, layout), rates);
    }
    return seconds;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/gradient_sums.h"

#include "models/coprocessor/memory_rate.h"
#include "models/coprocessor/region_clock.h"
#include "models/coprocessor/work_time.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace switchfold {

namespace {

constexpr std::uint64_t kFloat = 4;  // bytes

/// Whether the copies are in caches and cause no memory traffic.
bool in_caches(std::uint64_t bytes, const ProcessorParams& processor, const ThreadLayout& layout) {
    const std::uint64_t own = processor.cache.private_capacity.count() / 2 * layout.cores;
    return bytes <= own + processor.cache.shared_capacity.count() / 2;
}

/// `outputs` sums of `ways` copies each, by all threads.
double level_seconds(
    std::uint64_t outputs, std::uint64_t ways, const offload::TreeSum& sum, bool cached,
    const ProcessorParams& processor, const ThreadLayout& layout) {
    if (outputs == 0 || ways < 2)
        return 0;
    offload::ElementLoop loop;
    loop.elements = outputs * sum.elements;
    loop.bytes_read = ways * kFloat;
    loop.bytes_written = kFloat;
    loop.arrays = ways;  // the sum goes into one of them
    loop.operations = ways - 1;
    loop.from_other_teams = cached;
    const SharedRates rates{
        [&](double streams) { return memory_rate(processor, streams); }, ring_rate(processor)};
    return region_seconds(groups_of(loop, processor, layout), rates);
}

double tree_seconds(
    const offload::TreeSum& sum, std::uint64_t ways, const ProcessorParams& processor,
    const ThreadLayout& layout) {
    double seconds = 0;
    const std::uint64_t bytes = sum.elements * kFloat;
    for (std::uint64_t copies = layout.teams(); copies > 1; copies = (copies + ways - 1) / ways) {
        const bool cached = in_caches(copies * bytes, processor, layout);
        seconds += barrier_seconds(processor, layout.threads()) +
                   level_seconds(copies / ways, ways, sum, cached, processor, layout) +
                   level_seconds(1, copies % ways, sum, cached, processor, layout);
    }
    return seconds;
}

/// Fewest copies at once with which so many levels sum up all.
std::uint64_t least_ways(std::uint64_t copies, std::uint32_t levels) {
    for (std::uint64_t ways = 2;; ++ways) {
        std::uint64_t reached = 1;
        for (std::uint32_t level = 0; level < levels && reached < copies; ++level)
            reached *= ways;
        if (reached >= copies)
            return ways;
    }
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
    const std::uint64_t copies = layout.teams();
    if (copies <= 1)
        return 0;
    if (layout.copies_at_once > 0)
        return tree_seconds(sum, layout.copies_at_once, processor, layout);
    // Of the trees with as many levels, the one that reads least at once has no more streams than
    // it needs.
    double best = std::numeric_limits<double>::infinity();
    std::uint64_t before = 0;
    for (std::uint32_t levels = 1; before != 2; ++levels) {
        const std::uint64_t ways = least_ways(copies, levels);
        if (ways != before)
            best = std::min(best, tree_seconds(sum, ways, processor, layout));
        before = ways;
    }
    return best;
}

}  // namespace switchfold

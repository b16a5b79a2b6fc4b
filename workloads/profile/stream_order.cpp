// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/stream_order.h"

#include "core/big_sort.h"
#include "workloads/graph/clock_noise.h"
#include "workloads/profile/intervals.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace switchfold {

namespace {

// An operation that was launched earlier but starts within this time of the end of another stream's
// operation waited for it.
constexpr std::uint64_t kWaitedGap = 10'000'000;
// The same if a call told the stream to wait; hand-over between AMD's queues takes longer.
constexpr std::uint64_t kToldToWaitGap = 20'000'000;
// Times have three digits of a microsecond, begin and duration apart; in older traces none.
constexpr Time kLastDigit = nanoseconds(2);

}  // namespace

StreamOrder::StreamOrder(RawTrace& raw) : raw_(raw), streams_(raw.streams.size()) {
    for (const StreamWait& wait : raw.waits.pass())
        if (!wait.issues_collective)
            waits_.push_back(wait.start);
    big_sort(waits_, std::less<>{});
    for (const RawGpuEvent& gpu : raw.gpu.pass())
        if (gpu.work == GpuWork::kCommunication)
            collectives_.push_back(gpu.launch);
    std::sort(collectives_.begin(), collectives_.end());
}

std::uint64_t StreamOrder::end_of(std::size_t index) const {
    return raw_.gpu[index].end();
}

bool StreamOrder::in_order(std::size_t before, std::size_t after) const {
    return end_of(before) <= raw_.gpu[after].start + kClockNoise.count();
}

std::size_t StreamOrder::last_before(const Stream& stream, std::size_t index) {
    const auto& launched = stream.launched;
    if (launched.empty())
        return kNone;
    // Operations of a stream end in order.
    const auto after = std::partition_point(
        launched.begin(), launched.end(), [&](std::size_t i) { return in_order(i, index); });
    if (after != launched.end())
        ++raw_.report.dropped["dependencies that the measured times contradict"];
    return after == launched.begin() ? kNone : *std::prev(after);
}

std::size_t StreamOrder::waits_before(const RawGpuEvent& gpu) {
    if (!gpu.has_launch)
        return 0;
    const auto last = last_launch_.find(gpu.launch_thread);
    const std::uint64_t since = last == last_launch_.end() ? 0 : last->second;
    auto wait = std::lower_bound(
        raw_.waits.begin(), raw_.waits.end(), std::tuple(gpu.launch_thread, since),
        [](const StreamWait& w, const auto& key) { return std::tuple(w.thread, w.start) < key; });
    std::size_t count = 0;
    for (;
         wait != raw_.waits.end() && wait->thread == gpu.launch_thread && wait->start <= gpu.launch;
         ++wait)
        if (!wait->issues_collective)
            ++count;
    return count;
}

std::size_t StreamOrder::waits_in_a_row(std::uint64_t time) const {
    const auto next = std::upper_bound(collectives_.begin(), collectives_.end(), time);
    const auto first = next == collectives_.begin()
                           ? waits_.begin()
                           : std::lower_bound(waits_.begin(), waits_.end(), *std::prev(next));
    const auto last = next == collectives_.end()
                          ? waits_.end()
                          : std::lower_bound(waits_.begin(), waits_.end(), *next);
    return static_cast<std::size_t>(last - first);
}

std::vector<std::size_t> StreamOrder::waited_collectives(
    Stream& stream, std::size_t index, std::uint64_t previous_end, std::size_t waits) {
    auto& pending = stream.not_waited_for;
    const std::uint64_t start = raw_.gpu[index].start;
    // The awaited collective is the one that ended just when this operation could start and nothing
    // else held it up. Collectives before it have completed as well.
    for (std::size_t i = pending.size(); i-- > 0;) {
        const std::uint64_t end = end_of(pending[i]);
        if (!in_order(pending[i], index) || end + kToldToWaitGap < start || end < previous_end)
            continue;
        // As many as may have been waited for here: those before them have ended, too.
        const std::size_t first = i + 1 - std::min(i + 1, waits);
        const auto from = pending.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end_of_them = pending.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        std::vector<std::size_t> found(from, end_of_them);
        pending.erase(pending.begin(), end_of_them);
        return found;
    }
    // For example at the end of a backward pass: of n waits in a row, only the n most recent
    // collectives can be meant; nobody waits for older ones.
    const std::size_t row = waits_in_a_row(raw_.gpu[index].launch);
    if (row > 1 && pending.size() > row) {
        const std::size_t stale = pending.size() - row;
        pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(stale));
    }
    // It has not ended yet, so the wait was for something else.
    if (pending.empty() || !in_order(pending.front(), index))
        return {};
    const std::size_t oldest = pending.front();
    pending.pop_front();
    return {oldest};
}

/// What an operation may have waited for of another stream. Of what no call launched, what still
/// runs may have begun behind that.
std::size_t StreamOrder::last_ended(const Stream& other, const RawGpuEvent& gpu) const {
    std::size_t i = other.launched.size() - 1;
    while (!gpu.has_launch && i > 0 && end_of(other.launched[i]) > gpu.start + kClockNoise.count())
        --i;
    return other.launched[i];
}

/// Of what no call launched nobody knows that it was launched later.
bool StreamOrder::waited_for(std::size_t other, const RawGpuEvent& gpu, std::uint64_t ready) const {
    const std::uint64_t end = end_of(other);
    // What the host was launching as that ended began when it was launched.
    const bool launched_before = !gpu.has_launch || gpu.launch + kClockNoise.count() < end;
    // What began at once behind its predecessor did not wait for what ended a little later.
    const bool whole = gpu.start % microseconds(1).count() == 0;
    const bool idle = ready + kClockNoise.count() < gpu.start;
    return end <= gpu.start + (idle || whole ? kClockNoise : kLastDigit).count() &&
           gpu.start <= end + kWaitedGap && launched_before && ready < end;
}

/// A collective waits for those of other streams if the stream that was current had waited for
/// them, with no kernel between: it was ready before, and began as they ended.
std::vector<std::size_t> StreamOrder::for_communication(
    const Stream& own, const RawGpuEvent& gpu, std::uint64_t ready,
    const std::vector<std::size_t>& known) const {
    for (const std::size_t before : known)
        ready = std::max(ready, end_of(before));
    std::vector<std::size_t> found;
    for (const Stream& other : streams_)
        if (&other != &own && other.communicates && !other.launched.empty() &&
            ready + kClockNoise.count() < end_of(other.launched.back()) &&
            waited_for(other.launched.back(), gpu, ready))
            found.push_back(other.launched.back());
    return found;
}

std::vector<std::size_t> StreamOrder::add(std::size_t index) {
    const RawGpuEvent& gpu = raw_.gpu[index];
    const bool communication = gpu.work == GpuWork::kCommunication;
    Stream& own = streams_[gpu.stream];
    std::vector<std::size_t> found;
    const auto depend = [&](std::size_t before) {
        if (before != kNone && std::find(found.begin(), found.end(), before) == found.end())
            found.push_back(before);
    };
    const auto current = current_.find(gpu.launch_thread);
    const std::size_t waits = waits_before(gpu);
    const std::uint64_t previous_end = own.launched.empty() ? 0 : end_of(own.launched.back());
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
        Stream& other = streams_[s];
        if (&other == &own || other.launched.empty())
            continue;
        if (communication) {
            const bool is_current = gpu.has_launch && current != current_.end()
                                        ? s == current->second
                                        : !other.communicates;
            if (is_current)
                depend(last_before(other, index));
            continue;
        }
        if (waits > 0 && other.communicates)
            for (std::size_t left = waits; left > 0; --left)
                for (const std::size_t before :
                     waited_collectives(other, index, previous_end, left))
                    depend(before);
        else if (waits > 0)
            depend(last_before(other, index));
        // The measured times show a wait for the other stream, whatever the calls say.
        if (waits > 0 || other.communicates)
            if (const std::size_t last = last_ended(other, gpu);
                waited_for(last, gpu, previous_end))
                depend(last);
    }
    if (communication)
        for (const std::size_t before : for_communication(own, gpu, previous_end, found))
            depend(before);
    own.launched.push_back(static_cast<std::uint32_t>(index));
    if (communication) {
        own.communicates = true;
        own.not_waited_for.push_back(index);
    } else {
        current_[gpu.launch_thread] = gpu.stream;
    }
    if (gpu.has_launch)
        last_launch_[gpu.launch_thread] = gpu.launch;
    return found;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "training/plan/division/batch_division.h"

#include "core/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

/// Most samples that a device can take.
std::uint32_t most_of(StepTimes times) {
    return times.empty() ? 0 : static_cast<std::uint32_t>(times.size() - 1);
}

bool can_hold(const std::vector<StepTimes>& devices, std::uint64_t batch) {
    std::uint64_t most = 0;
    for (const StepTimes times : devices)
        most += most_of(times);
    return most >= batch;
}

/// Most samples that a device can finish within `seconds`. \pre monotone.
std::uint32_t done_within(StepTimes times, double seconds) {
    const auto after = std::upper_bound(times.begin(), times.end(), seconds);
    return after == times.begin() ? 0 : static_cast<std::uint32_t>(after - times.begin()) - 1;
}

/// Every possible time of the slowest device, ascending.
std::vector<double> all_times(const std::vector<StepTimes>& devices) {
    std::vector<double> all;
    for (const StepTimes times : devices)
        all.insert(all.end(), times.begin(), times.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// The least of these values for which `fits` holds. \pre `fits` is monotone: it holds for all
/// larger values.
template <class Fits>
std::optional<double> least_that(const std::vector<double>& ascending, const Fits& fits) {
    const auto found = std::partition_point(
        ascending.begin(), ascending.end(), [&](double seconds) { return !fits(seconds); });
    if (found == ascending.end())
        return {};
    return *found;
}

BatchDivision made(
    const std::vector<StepTimes>& devices, std::vector<std::uint32_t> samples,
    DivisionMethod method) {
    BatchDivision division;
    division.method = method;
    for (std::size_t i = 0; i < devices.size(); ++i)
        division.seconds = std::max(division.seconds, devices[i][samples[i]]);
    for (std::size_t i = 0; i < devices.size(); ++i)
        division.idle += division.seconds - devices[i][samples[i]];
    division.samples = std::move(samples);
    return division;
}

}  // namespace

bool is_monotone(StepTimes times) {
    return std::is_sorted(times.begin(), times.end());
}

std::vector<double> padded(StepTimes times) {
    std::vector<double> out(times.begin(), times.end());
    for (std::size_t b = out.size(); b-- > 2;)
        out[b - 1] = std::min(out[b - 1], out[b]);
    return out;
}

std::vector<double>
with_micro_batches(StepTimes times, std::uint32_t most, std::uint32_t micro_batch, double once) {
    SWITCHFOLD_CHECK(
        micro_batch > 0 && micro_batch < times.size(), "times of fewer samples than a micro-batch");
    std::vector<double> out(std::size_t{most} + 1, 0);
    for (std::uint32_t b = 1; b <= most; ++b) {
        const std::uint32_t before_last = (b - 1) / micro_batch;
        out[b] = before_last * times[micro_batch] + times[b - before_last * micro_batch] + once;
    }
    return out;
}

std::optional<BatchDivision>
priced(const std::vector<StepTimes>& devices, std::vector<std::uint32_t> samples) {
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (samples[i] > most_of(devices[i]))
            return {};
    return made(devices, std::move(samples), DivisionMethod::kEven);
}

std::optional<BatchDivision>
divide_evenly(const std::vector<StepTimes>& devices, std::uint32_t batch) {
    const auto n = static_cast<std::uint32_t>(devices.size());
    std::vector<std::uint32_t> samples(n);
    for (std::uint32_t i = 0; i < n; ++i)
        samples[i] = batch / n + (i < batch % n ? 1 : 0);
    return priced(devices, std::move(samples));
}

std::optional<BatchDivision>
divide_greedily(const std::vector<StepTimes>& devices, std::uint32_t batch) {
    if (!can_hold(devices, batch))
        return {};
    // (time of the device with one more sample, samples that it then has, device).
    using Next = std::tuple<double, std::uint32_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    const auto offer = [&](std::size_t device, std::uint32_t samples) {
        if (samples <= most_of(devices[device]))
            next.emplace(devices[device][samples], samples, device);
    };
    for (std::size_t i = 0; i < devices.size(); ++i)
        offer(i, 1);
    std::vector<std::uint32_t> samples(devices.size(), 0);
    for (std::uint32_t given = 0; given < batch; ++given) {
        const auto [seconds, count, device] = next.top();
        next.pop();
        samples[device] = count;
        offer(device, count + 1);
    }
    return made(devices, std::move(samples), DivisionMethod::kGreedy);
}

std::optional<double> least_seconds(const std::vector<StepTimes>& devices, std::uint32_t batch) {
    return least_that(all_times(devices), [&](double seconds) {
        std::uint64_t done = 0;
        for (const StepTimes times : devices)
            done += done_within(times, seconds);
        return done >= batch;
    });
}

std::optional<BatchDivision>
divide_exactly(const std::vector<StepTimes>& devices, std::uint32_t batch) {
    if (!can_hold(devices, batch))
        return {};
    const std::size_t n = devices.size();
    constexpr double kNever = std::numeric_limits<double>::infinity();
    // First pass: least time of the slowest among the devices from i on, given j samples.
    std::vector<double> least(std::size_t{batch} + 1, kNever);
    least[0] = 0;
    for (std::size_t i = n; i-- > 0;) {
        std::vector<double> with(least.size(), kNever);
        for (std::uint32_t j = 0; j <= batch; ++j)
            for (std::uint32_t b = 0; b <= std::min(j, most_of(devices[i])); ++b)
                with[j] = std::min(with[j], std::max(devices[i][b], least[j - b]));
        least = std::move(with);
    }
    const double seconds = least[batch];
    if (seconds == kNever)
        return {};
    // Second pass: greatest busy time of these devices if none takes longer than that.
    std::vector<std::vector<double>> busy(
        n + 1, std::vector<double>(std::size_t{batch} + 1, -kNever));
    busy[n][0] = 0;
    const auto with = [&](std::size_t i, std::uint32_t j, std::uint32_t b) {
        return devices[i][b] <= seconds ? devices[i][b] + busy[i + 1][j - b] : -kNever;
    };
    for (std::size_t i = n; i-- > 0;)
        for (std::uint32_t j = 0; j <= batch; ++j)
            for (std::uint32_t b = 0; b <= std::min(j, most_of(devices[i])); ++b)
                busy[i][j] = std::max(busy[i][j], with(i, j, b));
    std::vector<std::uint32_t> samples(n, 0);
    std::uint32_t left = batch;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t b = std::min(left, most_of(devices[i]));
        while (with(i, left, b) != busy[i][left])
            --b;
        samples[i] = b;
        left -= b;
    }
    return made(devices, std::move(samples), DivisionMethod::kExact);
}

std::optional<BatchDivision> divide(const std::vector<StepTimes>& devices, std::uint32_t batch) {
    if (std::all_of(devices.begin(), devices.end(), is_monotone))
        return divide_greedily(devices, batch);
    constexpr double kMostOperations = 1e10;
    if (static_cast<double>(devices.size()) * batch * batch <= kMostOperations)
        return divide_exactly(devices, batch);
    std::vector<std::vector<double>> filled;
    for (const StepTimes times : devices)
        filled.push_back(padded(times));
    auto division = divide_greedily({filled.begin(), filled.end()}, batch);
    if (division)
        division->method = DivisionMethod::kPadded;
    return division;
}

std::optional<BatchDivision> divide_over_some(
    const std::vector<StepTimes>& devices, std::uint32_t batch,
    const std::vector<double>& overhead) {
    SWITCHFOLD_CHECK(overhead.size() > devices.size(), "no overhead of {} devices", devices.size());
    const std::vector<double> times = all_times(devices);
    // Sorts the devices by the samples that they finish within a time, most first.
    const auto by_samples = [&](double seconds) {
        std::vector<std::pair<std::uint32_t, std::size_t>> most;
        for (std::size_t i = 0; i < devices.size(); ++i)
            most.emplace_back(done_within(devices[i], seconds), i);
        std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) {
            return a.first > b.first;
        });
        return most;
    };
    std::optional<BatchDivision> best;
    double least = 0;
    for (std::size_t n = 1; n <= devices.size(); ++n) {
        const auto seconds = least_that(times, [&](double within) {
            std::uint64_t done = 0;
            const auto most = by_samples(within);
            for (std::size_t i = 0; i < n; ++i)
                done += most[i].first;
            return done >= batch;
        });
        if (!seconds || (best && *seconds + overhead[n] >= least))
            continue;
        least = *seconds + overhead[n];
        std::vector<StepTimes> some(devices.size(), StepTimes(devices.front()).first(1));
        const auto most = by_samples(*seconds);
        for (std::size_t i = 0; i < n; ++i)
            some[most[i].second] = devices[most[i].second];
        best = divide_greedily(some, batch);
    }
    return best;
}

StepSpread spread_of(const std::vector<double>& seconds) {
    StepSpread spread;
    if (seconds.empty())
        return spread;
    const auto count = static_cast<double>(seconds.size());
    spread.longest = *std::max_element(seconds.begin(), seconds.end());
    spread.mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / count;
    double squares = 0;
    for (const double one : seconds)
        squares += (one - spread.mean) * (one - spread.mean);
    spread.deviation = std::sqrt(squares / count);
    return spread;
}

StepSpread
spread_of(const std::vector<StepTimes>& devices, const std::vector<std::uint32_t>& samples) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (samples[i] > 0)
            seconds.push_back(devices[i][samples[i]]);
    return spread_of(seconds);
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/carried_offsets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace switchfold {

namespace {

// us^2: below that, distances say nothing.
constexpr double kTold = 1;
// Share of the distances that is still there at the end.
constexpr double kMostOf = 0.7;
// Share of a collective's time by which its members come apart at most.
constexpr std::uint64_t kShare = 4;

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> microseconds_of(const std::vector<Time>& times) {
    std::vector<double> values;
    for (const Time time : times)
        values.push_back(to_microseconds(time));
    return values;
}

Time end_at(double microseconds) {
    return Time(static_cast<std::uint64_t>(std::llround(std::max(microseconds, 0.0) * 1e6)));
}

void sort_told(RecordedCollective& run) {
    std::stable_sort(
        run.told.begin(), run.told.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
}

/// Ends of members since the last had joined, by position, in microseconds.
std::vector<double> ends_of(const RecordedCollective& run) {
    std::vector<double> ends(run.joining.lags.size());
    for (const RecordedCollective::Told& told : run.told)
        if (told.left == 0)
            ends.at(told.position) = to_microseconds(told.at);
    return ends;
}

}  // namespace

void CarriedOffsets::add(const RecordedCollective& run) {
    const std::vector<double> lags = microseconds_of(run.joining.lags);
    const std::vector<double> ends = ends_of(run);
    const double mean_lag = mean(lags);
    const double mean_end = mean(ends);
    for (std::size_t i = 0; i < lags.size(); ++i) {
        apart_ += (lags[i] - mean_lag) * (lags[i] - mean_lag);
        together_ -= (lags[i] - mean_lag) * (ends[i] - mean_end);
    }
}

bool CarriedOffsets::carried() const {
    return apart_ > kTold && together_ > kMostOf * apart_;
}

Time CarriedOffsets::most_apart(const RecordedCollective& run) {
    return run.first_done() / kShare;
}

RecordedCollective
CarriedOffsets::shifted(RecordedCollective run, const std::vector<Time>& lags) const {
    const double kept = apart_ > kTold ? std::clamp(together_ / apart_, 0.0, 1.0) : 0;
    for (RecordedCollective::Told& told : run.told)
        if (told.left == 0) {
            const double earlier = to_microseconds(lags[told.position]) -
                                   to_microseconds(run.joining.lags[told.position]);
            told.at = end_at(to_microseconds(told.at) - kept * earlier);
        }
    sort_told(run);
    run.joining.lags = lags;
    return run;
}

RecordedCollective
CarriedOffsets::moved(RecordedCollective run, const std::vector<Time>& lags) const {
    const double kept = std::min(1.0, together_ / apart_);
    const std::vector<double> now = microseconds_of(lags);
    const double mean_now = mean(now);
    const double mean_end = mean(ends_of(run)) + mean(microseconds_of(run.joining.lags)) - mean_now;
    for (RecordedCollective::Told& told : run.told)
        if (told.left == 0) {
            const double end = mean_end + kept * (mean_now - now[told.position]);
            told.at = end_at(end);
        }
    sort_told(run);
    return run;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_recording.h"

#include "models/collectives/shortcuts/carried_offsets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace switchfold {

namespace {

// Share of a collective's time.
constexpr std::uint64_t kLittle = 200;
// Share of the mean rate by which what the memories move changes without being told.
constexpr double kSteady = 0.1;
// Share of all bytes at both ends in which pipelines fill and drain, which says nothing of a pace.
constexpr double kEnds = 0.1;

/// Whether members came apart, but end as far apart, so that it passes like those whose members
/// come together.
bool carries(const RecordedCollective& run) {
    CarriedOffsets offsets;
    offsets.add(run);
    return offsets.carried() && run.joining.spread <= CarriedOffsets::most_apart(run);
}

}  // namespace

double least_left(const Ports& ports) {
    double least = 1;
    for (const RankPort* port : ports)
        least = std::min(least, port->memory_left());
    return least;
}

CollectiveRecording::CollectiveRecording(
    CollectiveKey key, RecordedCollective::Joining joining, Time begins, const Ports& ports,
    const Scheduler& scheduler, const PartCounts& counts, std::vector<double> prelude) :
    key_(std::move(key)),
    scheduler_(&scheduler),
    counts_(&counts),
    joined_(world(scheduler.now())),
    begun_(counts.now()),
    prelude_(std::move(prelude)) {
    for (const RankPort* port : ports)
        accessed_.push_back(static_cast<double>(port->accessed()));
    run_.joining = std::move(joining);
    run_.begins = begins - scheduler.now();
    if (run_.joining.held) {
        // Who came earlier is ready when the last comes, no earlier.
        run_.joining.spread = std::min(run_.joining.spread, run_.begins);
        for (Time& lag : run_.joining.lags)
            lag = std::min(lag, run_.begins);
    }
    run_.legs = {{Time(), least_left(ports)}};
    sample(ports);
}

void CollectiveRecording::sample(const Ports& ports) {
    double bytes = 0;
    for (const RankPort* port : ports)
        bytes += static_cast<double>(port->accessed());
    const Time now = scheduler_->now();
    samples_.push_back({now, world(now), bytes, least_left(ports)});
}

void CollectiveRecording::change_left(const Ports& ports) {
    sample(ports);
    run_.legs.push_back({world(scheduler_->now()) - joined_, least_left(ports)});
}

void CollectiveRecording::told(
    std::uint32_t position, std::uint32_t left, std::uint32_t all, Time end) {
    run_.told.push_back({world(end) - joined_, 0, position, left, all});
}

void CollectiveRecording::first_done(const Ports& ports) {
    sample(ports);
    const Time now = scheduler_->now();
    const Time simulated = now - samples_.front().at;
    if (simulated <= run_.begins)
        return run_.accessed.assign(ports.size(), 0);
    const double seconds = to_seconds(simulated - run_.begins);
    const double all_seconds = to_seconds(world(now) - joined_ - run_.begins);
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const double rate = (static_cast<double>(ports[i]->accessed()) - accessed_[i]) / seconds;
        run_.accessed.push_back(rate * all_seconds);
        if (const double bandwidth = ports[i]->access_bandwidth(); bandwidth > 0)
            run_.demand = std::max(run_.demand, rate / bandwidth);
    }
}

void CollectiveRecording::end() {
    std::stable_sort(run_.told.begin(), run_.told.end(), [](const auto& a, const auto& b) {
        return a.at < b.at;
    });
    RecordedCollective::Joining& joining = run_.joining;
    // Nobody had moved much before the last came, or what was moved is known.
    const bool at_once = joining.spread <= run_.begins + run_.first_done() / kLittle;
    if (joining.late && joining.all_wait && !joining.held && !prelude_.empty())
        whole_traffic_ = counts_->since(prelude_);
    const bool carried =
        !at_once && !prelude_.empty() && joining.late && run_.beside_kernels() && carries(run_);
    if (joining.late && (at_once || carried)) {
        joining.late = false;
        key_ = with_late(std::move(key_), kNobodyLate);
    }
    run_.traffic = counts_->since(carried ? prelude_ : begun_);
    if (!pace().nothing())
        run_.flows = flows();
}

std::optional<RecordedCollective> CollectiveRecording::joined_apart() const {
    if (!whole_traffic_)
        return std::nullopt;
    RecordedCollective run = run_;
    run.traffic = *whole_traffic_;
    return run;
}

PaceBesideKernels CollectiveRecording::pace() const {
    const double begun = samples_.front().bytes;
    const double all = samples_.back().bytes - begun;
    PaceBesideKernels pace;
    for (std::size_t i = 0; i + 1 < samples_.size(); ++i) {
        const Sample& from = samples_[i];
        const Sample& to = samples_[i + 1];
        if (from.bytes - begun >= kEnds * all && samples_.back().bytes - to.bytes >= kEnds * all)
            pace.add(from.left, to_seconds(to.at - from.at), to.bytes - from.bytes);
    }
    return pace;
}

std::vector<RecordedCollective::Flow> CollectiveRecording::flows() const {
    const double seconds = to_seconds(samples_.back().at - samples_.front().at);
    const double mean = (samples_.back().bytes - samples_.front().bytes) / seconds;
    std::vector<RecordedCollective::Flow> flows;
    double bytes = 0;  // of the last flow
    Time took;
    double early = 0;  // told by the time at which it begins to move
    for (std::size_t i = 0; i + 1 < samples_.size(); ++i) {
        const Time time = samples_[i + 1].at - samples_[i].at;
        double moved = samples_[i + 1].bytes - samples_[i].bytes;
        if (time == Time() || samples_[i + 1].world <= joined_ + run_.begins) {
            early += moved;
            continue;
        }
        moved += std::exchange(early, 0);
        if (flows.empty() && samples_[i].world > joined_)
            flows.push_back({Time(), 0, 0, 0});
        const double rate = moved / to_seconds(time);
        if (flows.empty() || std::abs(rate - flows.back().rate) > kSteady * mean) {
            flows.push_back({samples_[i].world - joined_, 0, 0, 0});
            bytes = 0;
            took = Time();
        }
        bytes += moved;
        took += time;
        flows.back().rate = bytes / to_seconds(took);
    }
    return flows;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_memo.h"

#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kMostCaution = 1U << 20U;
// How often what the memories have moved is looked at in a recording.
constexpr Time kSampled = microseconds(1);
// Share of a collective's time.
constexpr std::uint64_t kLittle = 200;
// Share of the mean rate by which what the memories move changes without being told.
constexpr double kSteady = 0.1;
// Of one key.
constexpr std::size_t kMostRuns = 4;
// Share of all bytes at both ends in which pipelines fill and drain, which says nothing of a pace.
constexpr double kEnds = 0.1;

}  // namespace

bool CollectiveMemo::Example::knows(double left, const RecordedCollective& run) const {
    return pace.nothing() ? left >= 1 : pace.at(left, run.demand).has_value();
}

double CollectiveMemo::Example::pace_at(double left, const RecordedCollective& run) const {
    if (pace.nothing())
        return 1;
    return pace.at(left, run.demand).value_or(pace.guess(left, run.demand));
}

const RecordedCollective*
CollectiveMemo::Example::suiting(const RecordedCollective::Joining& joining, double left) const {
    if (asks)
        return nullptr;
    const RecordedCollective* nearest = nullptr;
    for (const RecordedCollective& run : runs)
        if ((run.suits(joining) || (!joining.late && offsets.carried() &&
                                    joining.spread <= CarriedOffsets::most_apart(run))) &&
            (nearest == nullptr || run.differs(joining) < nearest->differs(joining)))
            nearest = &run;
    if (nearest == nullptr || (left < 1 && !knows(left, *nearest)))
        return nullptr;
    if (nearest->joined_like(joining))
        return nearest;
    // Beside kernels the others may not have moved all that they can before a late one comes.
    const bool may = joining.late ? left >= 1 : offsets.carried() || runs.size() == kMostRuns;
    return may ? nearest : nullptr;
}

Time CollectiveMemo::Example::patience() const {
    if (runs.empty())
        return {};
    return offsets.carried() ? CarriedOffsets::most_apart(runs.front()) : runs.front().ignored();
}

void CollectiveMemo::Example::learn(RecordedCollective run, const PaceBesideKernels& its_pace) {
    pace.add(its_pace);
    asks = false;
    if (!run.joining.late)
        offsets.add(run);
    const auto like = std::find_if(runs.begin(), runs.end(), [&](const RecordedCollective& other) {
        return run.joining.late ? other.suits(run.joining) : other.joined_like(run.joining);
    });
    if (like == runs.end() && runs.size() < kMostRuns && run.suits(run.joining))
        runs.push_back(std::move(run));
    else if (like != runs.end() && like->beside_kernels() && !run.beside_kernels())
        *like = std::move(run);
    for (RecordedCollective& one : runs)
        count_work(one);
}

void CollectiveMemo::Example::count_work(RecordedCollective& run) const {
    run.count_work([&](double left) { return pace_at(left, run); });
}

namespace {

std::vector<double> accessed_of(const CollectiveMemo::Ports& ports) {
    std::vector<double> bytes;
    for (const RankPort* port : ports)
        bytes.push_back(static_cast<double>(port->accessed()));
    return bytes;
}

/// Whether members came apart, but end as far apart, so that it passes like those whose members
/// come together.
bool carries(const RecordedCollective& run) {
    CarriedOffsets offsets;
    offsets.add(run);
    return offsets.carried() && run.joining.spread <= CarriedOffsets::most_apart(run);
}

}  // namespace

void CollectiveMemo::listen(const Ports& ports) {
    for (RankPort* port : ports_)
        port->tell_of_memory(nullptr);
    ports_ = ports;
    MemoryLeftListener& self = *this;
    for (RankPort* port : ports_)
        port->tell_of_memory(&self);
}

double CollectiveMemo::left() const {
    double least = 1;
    for (const RankPort* port : ports_)
        least = std::min(least, port->memory_left());
    return least;
}

void CollectiveMemo::begins(const MemberListener& of, const Ports& ports) {
    prelude_ = {&of, counts_.all(), accessed_of(ports)};
}

bool CollectiveMemo::recall(
    const CollectiveKey& key, const RecordedCollective::Joining& joining, const Ports& ports,
    MemberListener& members, MemoListener& listener) {
    if (passing_ || watched_ != nullptr || !alone_())
        return false;
    listen(ports);
    const auto example = past_.find(key);
    const RecordedCollective* run =
        example == past_.end() ? nullptr : example->second.suiting(joining, left());
    const Time now = scheduler_.now();
    if (run == nullptr) {
        record(key, joining, now + listener.before_work(), members);
        return false;
    }
    RecordedCollective its = *run;
    if (!joining.late && example->second.offsets.carried()) {
        its = example->second.offsets.moved(std::move(its), joining.lags);
        example->second.count_work(its);
    }
    const double pace = example->second.pace_at(left(), its);
    passing_ = {key, Passage(std::move(its), pace, now),   &members, &listener, {},
                {},  std::vector<bool>(ports.size(), true)};
    may_be_disturbed_ = true;
    ++generation_;
    post_next();
    change_pace();
    return true;
}

void CollectiveMemo::record(
    CollectiveKey key, const RecordedCollective::Joining& joining, Time begins,
    const MemberListener& of) {
    const Time now = scheduler_.now();
    Recording recording;
    recording.key = std::move(key);
    recording.joined = world(now);
    const bool knows_prelude = prelude_ && prelude_->of == &of;
    recording.begun = knows_prelude ? prelude_->counts : counts_.all();
    recording.before = knows_prelude ? prelude_->accessed : accessed_of(ports_);
    recording.from_first = knows_prelude;
    recording.run.joining = joining;
    recording.run.begins = begins - now;
    if (joining.held) {
        // Who came earlier is ready when the last comes, no earlier.
        RecordedCollective::Joining& as_begun = recording.run.joining;
        as_begun.spread = std::min(joining.spread, begins - now);
        for (Time& lag : as_begun.lags)
            lag = std::min(lag, begins - now);
    }
    recording.run.legs = {{Time(), left()}};
    Recording& kept = recordings_[&of] = std::move(recording);
    watched_ = &of;
    sample(kept);
    ++sampled_;
    post(Tag::kSample, begins);
}

void CollectiveMemo::sample(Recording& recording) {
    double bytes = 0;
    for (const RankPort* port : ports_)
        bytes += static_cast<double>(port->accessed());
    const Time now = scheduler_.now();
    recording.samples.push_back({now, world(now), bytes, left()});
}

PaceBesideKernels CollectiveMemo::pace_of(const std::vector<Sample>& samples) {
    const double begun = samples.front().bytes;
    const double all = samples.back().bytes - begun;
    PaceBesideKernels pace;
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
        const Sample& from = samples[i];
        const Sample& to = samples[i + 1];
        if (from.bytes - begun >= kEnds * all && samples.back().bytes - to.bytes >= kEnds * all)
            pace.add(from.left, to_seconds(to.at - from.at), to.bytes - from.bytes);
    }
    return pace;
}

std::vector<RecordedCollective::Flow> CollectiveMemo::flows_of(const Recording& recording) {
    const std::vector<Sample>& samples = recording.samples;
    const double seconds = to_seconds(samples.back().at - samples.front().at);
    const double mean = (samples.back().bytes - samples.front().bytes) / seconds;
    std::vector<RecordedCollective::Flow> flows;
    double bytes = 0;  // of the last flow
    Time took;
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
        const Time time = samples[i + 1].at - samples[i].at;
        if (time == Time())
            continue;
        const double moved = samples[i + 1].bytes - samples[i].bytes;
        const double rate = moved / to_seconds(time);
        if (flows.empty() || std::abs(rate - flows.back().rate) > kSteady * mean) {
            flows.push_back({samples[i].world - recording.joined, 0, 0, 0});
            bytes = 0;
            took = Time();
        }
        bytes += moved;
        took += time;
        flows.back().rate = bytes / to_seconds(took);
    }
    return flows;
}

void CollectiveMemo::post(Tag tag, Time at) {
    const std::uint64_t generation = of(tag);
    scheduler_.at(at, *this, generation << 3U | static_cast<std::uint64_t>(tag));
}

void CollectiveMemo::post_next() {
    ++told_;
    post(Tag::kTold, std::max(scheduler_.now(), passing_->passage.next_at()));
}

void CollectiveMemo::on_event(std::uint64_t tag) {
    const auto what = static_cast<Tag>(tag & 7U);
    if (tag >> 3U != of(what))
        return;
    if (what == Tag::kSample) {
        if (watched_ == nullptr)
            return;
        sample(recordings_.at(watched_));
        return post(Tag::kSample, scheduler_.now() + kSampled);
    }
    if (!passing_)
        return;
    if (what == Tag::kTold)
        tell();
    else if (what == Tag::kPace)
        change_pace();
    else if (what == Tag::kFlow)
        stream();
    else if (may_be_disturbed_)
        give_way();
}

void CollectiveMemo::on_memory_left() {
    // Whoever draws is in the middle of an event.
    if (passing_)
        return post(Tag::kPace, scheduler_.now());
    Recording& recording = recordings_.at(watched_);
    sample(recording);
    recording.run.legs.push_back({world(scheduler_.now()) - recording.joined, left()});
}

void CollectiveMemo::count_guessed() {
    Passing& passing = *passing_;
    const Time now = scheduler_.now();
    if (passing.guessed_since)
        passing.guessed_for += now - *passing.guessed_since;
    passing.guessed_since.reset();
    if (!past_.at(passing.key).knows(left(), passing.passage.run()))
        passing.guessed_since = now;
}

void CollectiveMemo::change_pace() {
    Passing& passing = *passing_;
    count_guessed();
    const double pace = past_.at(passing.key).pace_at(left(), passing.passage.run());
    if (pace != passing.passage.pace()) {
        passing.passage.go_on(pace, scheduler_.now());
        post_next();
    }
    stream();
}

void CollectiveMemo::stream() {
    Passing& passing = *passing_;
    const bool matters = std::any_of(
        ports_.begin(), ports_.end(), [](const RankPort* port) { return port->kernels_run(); });
    const RecordedCollective& run = passing.passage.run();
    const double all = std::accumulate(run.accessed.begin(), run.accessed.end(), 0.0);
    const double flow = matters ? passing.passage.flow(scheduler_.now()) : 0;
    for (std::size_t position = 0; position < ports_.size(); ++position)
        ports_[position]->stream(
            flow > 0 && passing.moves[position] ? run.accessed[position] / all * flow : 0);
    ++flows_;
    if (const std::optional<Time> next = passing.passage.flow_changes(); matters && next)
        post(Tag::kFlow, *next);
}

void CollectiveMemo::stop_streams() {
    for (RankPort* port : ports_)
        port->stream(0);
}

void CollectiveMemo::tell() {
    Passing& passing = *passing_;
    const Time now = scheduler_.now();
    telling_ = true;
    while (!passing.passage.over() && passing.passage.next_at() <= now) {
        const RecordedCollective::Told t = passing.passage.next();
        passing.passage.tell(now);
        if (t.left > 0) {
            passing.members->on_round_done(t.position, t.left, t.all, now);
            continue;
        }
        may_be_disturbed_ = false;
        passing.moves[t.position] = false;
        ports_[t.position]->stream(0);
        passing.members->on_member_done(t.position, now);
    }
    telling_ = false;
    if (!passing.passage.over())
        return post_next();
    counts_.add(passing.passage.run().traffic, 1);
    recalled_ += now - passing.passage.joined();
    count_guessed();
    Example& example = past_.at(passing.key);
    example.asks = example.asks || passing.guessed_for > passing.passage.run().ignored();
    listen({});
    passing_.reset();
}

void CollectiveMemo::give_way() {
    const Passing passing = std::move(*passing_);
    passing_.reset();
    stop_streams();
    listen({});
    past_.at(passing.key).runs.clear();
    Caution& caution = caution_[passing.key];
    caution.left = caution.next;
    caution.next = std::clamp(2 * caution.next, 1U, kMostCaution);
    const Time now = scheduler_.now();
    // Whoever joined last has not moved anything before it begins, and so nobody much.
    const double share = passing.passage.done(now);
    counts_.add(passing.passage.run().traffic, share);
    recalled_ += now - passing.passage.joined();
    passing.listener->on_disturbed(1 - share);
}

void CollectiveMemo::told(
    const MemberListener& of, std::uint32_t position, std::uint32_t left, std::uint32_t all,
    Time end) {
    const auto found = recordings_.find(&of);
    if (found == recordings_.end())
        return;
    Recording& recording = found->second;
    recording.run.told.push_back({world(end) - recording.joined, 0, position, left, all});
    if (left == 0 && watched_ == &of) {
        count_accessed(recording);
        watched_ = nullptr;
        listen({});
    }
}

void CollectiveMemo::count_accessed(Recording& recording) {
    sample(recording);
    const Time now = scheduler_.now();
    const Time begins = recording.run.begins;
    const Time simulated = now - recording.samples.front().at;
    if (simulated <= begins)
        return recording.run.accessed.assign(ports_.size(), 0);
    const double seconds = to_seconds(simulated - begins);
    const double all_seconds = to_seconds(world(now) - recording.joined - begins);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        const double rate =
            (static_cast<double>(ports_[i]->accessed()) - recording.before[i]) / seconds;
        recording.run.accessed.push_back(rate * all_seconds);
        if (const double bandwidth = ports_[i]->access_bandwidth(); bandwidth > 0)
            recording.run.demand = std::max(recording.run.demand, rate / bandwidth);
    }
}

void CollectiveMemo::ended(const MemberListener& of) {
    const auto found = recordings_.find(&of);
    if (found == recordings_.end())
        return;
    Recording recording = std::move(found->second);
    recordings_.erase(found);
    RecordedCollective::Joining& joining = recording.run.joining;
    // Nobody had moved much before the last came.
    if (joining.late &&
        (joining.spread <= recording.run.begins + recording.run.first_done() / kLittle ||
         (recording.from_first && carries(recording.run)))) {
        joining.late = false;
        recording.key = with_late(std::move(recording.key), kNobodyLate);
    }
    if (const auto caution = caution_.find(recording.key);
        caution != caution_.end() && caution->second.left > 0) {
        --caution->second.left;
        return;
    }
    recording.run.traffic = beyond(counts_.all(), recording.begun);
    std::stable_sort(
        recording.run.told.begin(), recording.run.told.end(),
        [](const auto& a, const auto& b) { return a.at < b.at; });
    learn(std::move(recording));
}

void CollectiveMemo::learn(Recording recording) {
    const bool beside = recording.run.beside_kernels();
    const PaceBesideKernels pace = pace_of(recording.samples);
    if (!pace.nothing())
        recording.run.flows = flows_of(recording);
    // What passes now counts its work as it was counted when it began.
    const bool passes_now = passing_ && passing_->key == recording.key;
    if (!passes_now && (!beside || !pace.nothing()))
        past_[std::move(recording.key)].learn(std::move(recording.run), pace);
}

void CollectiveMemo::disturb() {
    prelude_.reset();
    if (watched_ != nullptr) {
        recordings_.erase(watched_);
        watched_ = nullptr;
        listen({});
    }
    // Whoever disturbs it is in the middle of an event.
    if (passing_ && may_be_disturbed_)
        post(Tag::kDisturbed, scheduler_.now());
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_memo.h"

#include "models/collectives/running_collective.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kMostCaution = 1U << 20U;
// How often what the memories have moved is looked at in a recording.
constexpr Time kSampled = microseconds(1);
}  // namespace

void CollectiveMemo::listen(const Ports& ports) {
    MemoryLeftListener& self = *this;
    for (RankPort* port : ports_)
        port->forget_listener(self);
    ports_ = ports;
    for (RankPort* port : ports_)
        port->tell_of_memory(self);
}

void CollectiveMemo::begins(const MemberListener& of) {
    prelude_ = {&of, counts_.now()};
}

std::optional<CollectiveMemo::Found> CollectiveMemo::find(
    const CollectiveKey& key, const RecordedCollective::Joining& joining,
    const MemberListener& of) {
    const double left = least_left(ports_);
    if (const auto past = past_.find(key); past != past_.end())
        if (const RecordedCollective* run = past->second.suiting(joining, left))
            return Found{key, past->second.as_joined(*run, joining)};
    const CollectiveKey like = with_late(key, kNobodyLate);
    const auto apart = apart_.find(like);
    if (!joining.late || !joining.all_wait || apart == apart_.end() || !prelude_ ||
        prelude_->of != &of)
        return std::nullopt;
    std::optional<RecordedCollective> run = apart->second.suiting(joining);
    if (!run || (left < 1 && !example(like).knows(left, *run)))
        return std::nullopt;
    example(like).count_work(*run);
    return Found{like, *std::move(run), prelude_->counts};
}

bool CollectiveMemo::recall(
    const CollectiveKey& key, const RecordedCollective::Joining& joining, const Ports& ports,
    bool alone, MemberListener& members, MemoListener& listener) {
    if (passing_ || watched_ != nullptr || (!beside_kernels_ && least_left(ports) < 1))
        return false;
    listen(ports);
    std::optional<Found> found = find(key, joining, members);
    const Time now = scheduler_.now();
    if (!found) {
        if (alone)
            record(key, joining, now + listener.before_work(), members);
        else
            listen({});
        return false;
    }
    prelude_.reset();
    if (!found->since.empty())
        listener.drop_begun();
    const double pace = example(found->key).pace_at(least_left(ports_), found->run);
    std::vector<double> traffic = found->run.traffic;
    passing_ = Passing{
        std::move(found->key),
        Passage(std::move(found->run), pace, now),
        &members,
        &listener,
        std::move(traffic),
        std::move(found->since),
        {},
        {},
        std::vector<bool>(ports.size(), true)};
    may_be_disturbed_ = true;
    ++generation_;
    post_next();
    change_pace();
    return true;
}

void CollectiveMemo::record(
    CollectiveKey key, const RecordedCollective::Joining& joining, Time begins,
    const MemberListener& of) {
    const bool knows_prelude = prelude_ && prelude_->of == &of;
    recordings_.insert_or_assign(
        &of, CollectiveRecording(
                 std::move(key), joining, begins, ports_, scheduler_, counts_,
                 knows_prelude ? std::move(prelude_->counts) : std::vector<double>()));
    prelude_.reset();
    watched_ = &of;
    ++sampled_;
    post(Tag::kSample, begins);
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
        recordings_.at(watched_).sample(ports_);
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
    if (!beside_kernels_ && least_left(ports_) < 1) {
        touch();
        return disturb();
    }
    // Whoever draws is in the middle of an event.
    if (passing_)
        return post(Tag::kPace, scheduler_.now());
    recordings_.at(watched_).change_left(ports_);
}

void CollectiveMemo::count_guessed() {
    Passing& passing = *passing_;
    const Time now = scheduler_.now();
    if (passing.guessed_since)
        passing.guessed_for += now - *passing.guessed_since;
    passing.guessed_since.reset();
    if (!past_.at(passing.key).knows(least_left(ports_), passing.passage.run()))
        passing.guessed_since = now;
}

void CollectiveMemo::change_pace() {
    Passing& passing = *passing_;
    count_guessed();
    const double pace = past_.at(passing.key).pace_at(least_left(ports_), passing.passage.run());
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
            this, flow > 0 && passing.moves[position] ? run.accessed[position] / all * flow : 0);
    ++flows_;
    if (const std::optional<Time> next = passing.passage.flow_changes(); matters && next)
        post(Tag::kFlow, *next);
}

void CollectiveMemo::stop_streams() {
    for (RankPort* port : ports_)
        port->stream(this, 0);
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
        if (std::exchange(may_be_disturbed_, false))
            passing.traffic = uncounted(1);
        passing.moves[t.position] = false;
        ports_[t.position]->stream(this, 0);
        passing.members->on_member_done(t.position, now);
    }
    telling_ = false;
    if (!passing.passage.over())
        return post_next();
    counts_.add(passing.traffic);
    recalled_ += now - passing.passage.joined();
    count_guessed();
    if (passing.guessed_for > passing.passage.run().ignored())
        past_.at(passing.key).ask();
    listen({});
    passing_.reset();
}

std::vector<double> CollectiveMemo::uncounted(double share) const {
    std::vector<double> traffic = passing_->traffic;
    for (double& count : traffic)
        count *= share;
    if (passing_->since.empty())
        return traffic;
    // What early members sent has come by now, and is counted.
    const std::vector<double> moved = counts_.since(passing_->since);
    for (std::size_t i = 0; i < moved.size(); ++i)
        traffic[i] = std::max(0.0, traffic[i] - moved[i]);
    return traffic;
}

void CollectiveMemo::give_way() {
    const double share = passing_->passage.done(scheduler_.now());
    counts_.add(uncounted(share));
    const Passing passing = std::move(*passing_);
    passing_.reset();
    stop_streams();
    listen({});
    if (share > 0) {
        past_.at(passing.key).forget();
        apart_.erase(passing.key);
        Caution& caution = caution_[passing.key];
        caution.left = caution.next;
        caution.next = std::clamp(2 * caution.next, 1U, kMostCaution);
    }
    const Time now = scheduler_.now();
    // Whoever joined last has not moved anything before it begins, and so nobody much.
    recalled_ += now - passing.passage.joined();
    passing.listener->on_disturbed(1 - share);
}

void CollectiveMemo::told(
    const MemberListener& of, std::uint32_t position, std::uint32_t left, std::uint32_t all,
    Time end) {
    const auto found = recordings_.find(&of);
    if (found == recordings_.end())
        return;
    CollectiveRecording& recording = found->second;
    recording.told(position, left, all, end);
    if (left == 0 && watched_ == &of) {
        recording.first_done(ports_);
        watched_ = nullptr;
        listen({});
    }
}

void CollectiveMemo::ended(const MemberListener& of) {
    const auto found = recordings_.find(&of);
    if (found == recordings_.end())
        return;
    CollectiveRecording recording = std::move(found->second);
    recordings_.erase(found);
    recording.end();
    if (const auto caution = caution_.find(recording.key());
        caution != caution_.end() && caution->second.left > 0) {
        --caution->second.left;
        return;
    }
    const PaceBesideKernels pace = recording.pace();
    // What passes now counts its work as it was counted when it began.
    const bool passes_now = passing_ && passing_->key == recording.key();
    if (passes_now || (recording.run().beside_kernels() && pace.nothing()))
        return;
    if (std::optional<RecordedCollective> run = recording.joined_apart()) {
        const CollectiveKey like = with_late(recording.key(), kNobodyLate);
        apart_[like].learn(*std::move(run));
        if (like != recording.key())
            example(like).hear(pace);
    }
    example(recording.key()).learn(std::move(recording.run()), pace);
}

void CollectiveMemo::touch() {
    prelude_.reset();
    if (watched_ == nullptr)
        return;
    recordings_.erase(watched_);
    watched_ = nullptr;
    listen({});
}

void CollectiveMemo::disturb() {
    // Whoever disturbs it is in the middle of an event.
    if (passing_ && may_be_disturbed_)
        post(Tag::kDisturbed, scheduler_.now());
}

}  // namespace switchfold

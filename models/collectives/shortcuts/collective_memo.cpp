// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/collective_memo.h"

#include "models/collectives/running_collective.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kMostCaution = 1U << 20U;

}  // namespace

void CollectiveMemo::listen(const Ports& ports) {
    for (RankPort* port : ports_)
        port->tell_of_draws(nullptr);
    ports_ = ports;
    DrawListener& self = *this;
    for (RankPort* port : ports_)
        port->tell_of_draws(&self);
}

bool CollectiveMemo::undisturbed(const Ports& ports) const {
    return alone_() && std::none_of(ports.begin(), ports.end(), [](const RankPort* port) {
               return port->kernel_draw().rate > 0;
           });
}

bool CollectiveMemo::recall(
    const CollectiveKey& key, const RecordedCollective::Joining& joining, const Ports& ports,
    MemberListener& members, MemoListener& listener) {
    if (passing_ || watched_ != nullptr || !undisturbed(ports))
        return false;
    const auto found = past_.find(key);
    if (found == past_.end() || !found->second.suits(joining)) {
        record(key, joining, ports, members);
        return false;
    }
    const RecordedCollective& run = found->second;
    passing_ = {key, run, scheduler_.now(), 0, &members, &listener};
    may_be_disturbed_ = true;
    ++generation_;
    listen(ports);
    post(Tag::kTold, passing_->joined + run.told.front().at);
    return true;
}

void CollectiveMemo::record(
    CollectiveKey key, const RecordedCollective::Joining& joining, const Ports& ports,
    const MemberListener& of) {
    Recording recording{std::move(key), world(scheduler_.now()), counts_.all(), {}};
    recording.run.joining = joining;
    recordings_[&of] = std::move(recording);
    watched_ = &of;
    listen(ports);
}

void CollectiveMemo::post(Tag tag, Time at) {
    scheduler_.at(at, *this, generation_ << 1U | static_cast<std::uint64_t>(tag));
}

void CollectiveMemo::on_event(std::uint64_t tag) {
    if (!passing_ || tag >> 1U != generation_)
        return;
    if (static_cast<Tag>(tag & 1U) == Tag::kTold)
        tell();
    else if (may_be_disturbed_)
        give_way();
}

void CollectiveMemo::tell() {
    Passing& passing = *passing_;
    const Time now = scheduler_.now();
    const auto& told = passing.run.told;
    telling_ = true;
    while (passing.next < told.size() && passing.joined + told[passing.next].at <= now) {
        const RecordedCollective::Told& t = told[passing.next++];
        if (t.left > 0) {
            passing.members->on_round_done(t.position, t.left, t.all, now);
            continue;
        }
        if (may_be_disturbed_)
            listen({});
        may_be_disturbed_ = false;
        passing.members->on_member_done(t.position, now);
    }
    telling_ = false;
    if (passing.next < told.size())
        return post(Tag::kTold, passing.joined + told[passing.next].at);
    counts_.add(passing.run.traffic, 1);
    recalled_ += told.back().at;
    passing_.reset();
}

void CollectiveMemo::give_way() {
    const Passing passing = std::move(*passing_);
    passing_.reset();
    listen({});
    past_.erase(passing.key);
    Caution& caution = caution_[passing.key];
    caution.left = caution.next;
    caution.next = std::clamp(2 * caution.next, 1U, kMostCaution);
    const Time passed = scheduler_.now() - passing.joined;
    // Whoever joined last has not moved anything until then, and so nobody much.
    const Time before = std::min(passed, passing.listener->before_work());
    const double share =
        to_seconds(passed - before) / to_seconds(passing.run.first_done() - before);
    counts_.add(passing.run.traffic, share);
    recalled_ += passed;
    passing.listener->on_disturbed(1 - share);
}

void CollectiveMemo::told(
    const MemberListener& of, std::uint32_t position, std::uint32_t left, std::uint32_t all,
    Time end) {
    const auto found = recordings_.find(&of);
    if (found == recordings_.end())
        return;
    Recording& recording = found->second;
    recording.run.told.push_back({world(end) - recording.joined, position, left, all});
    if (left == 0 && watched_ == &of) {
        watched_ = nullptr;
        listen({});
    }
}

void CollectiveMemo::ended(const MemberListener& of) {
    const auto found = recordings_.find(&of);
    if (found == recordings_.end())
        return;
    Recording recording = std::move(found->second);
    recordings_.erase(found);
    RecordedCollective::Joining& joining = recording.run.joining;
    if (joining.late && joining.spread <= recording.run.ignored()) {
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
    if (recording.run.suits(recording.run.joining))
        past_.try_emplace(std::move(recording.key), std::move(recording.run));
}

void CollectiveMemo::disturb() {
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

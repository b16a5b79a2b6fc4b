// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/shortcuts/message_memo.h"

#include "interconnect/fabric.h"
#include "models/collectives/running_collective.h"
#include "models/collectives/shortcuts/reaches.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

// So many that shared a link with others tell what one adds to counts, if none was without.
constexpr std::uint32_t kMostTries = 48;

}  // namespace

MessageMemo::MessageMemo(
    Fabric& fabric, TrafficCounts& counts, const std::vector<RankPort*>& ports) :
    scheduler_(fabric.scheduler()), fabric_(fabric), counts_(counts), ports_(ports) {}

bool MessageMemo::joins(const MessageEnd& end) {
    const auto passing = std::ranges::find_if(
        passing_, [&](const Passing& one) { return one.members == end.members; });
    if (passing != passing_.end())
        return joins(*passing, end);
    const Way& way = way_of(end);
    Known& known = known_[{way.kind, end.bytes.count(), end.channels}];
    if (known.measured == nullptr)
        known.measured = &way;
    const bool measures = known.measured == &way && known.traffic.size() < way.counts.size();
    if (simulated_.contains(end.members) || others_ > 0 || measures ||
        !known.times.knows(end.sends)) {
        simulate(end, known, way);
        return false;
    }
    const auto free =
        std::ranges::find_if(passing_, [](const Passing& one) { return one.members == nullptr; });
    Passing& fresh = free == passing_.end() ? passing_.emplace_back() : *free;
    const std::uint32_t generation = fresh.generation;
    fresh = {};
    fresh.generation = generation;
    fresh.members = end.members;
    fresh.known = &known;
    fresh.way = &way;
    fresh.sender = end.sender;
    fresh.receiver = end.receiver;
    return joins(fresh, end);
}

bool MessageMemo::joins(Passing& passing, const MessageEnd& end) {
    const Time now = scheduler_.now();
    (end.sends ? passing.sender_position : passing.receiver_position) = end.position;
    (end.sends ? passing.sender_joined : passing.receiver_joined) = now;
    if (end.sends)
        passing.since = now;
    share();
    return true;
}

void MessageMemo::other_begins() {
    ++others_;
    for (auto& [members, message] : simulated_)
        message.alone = false;
}

const MessageMemo::Way& MessageMemo::way_of(const MessageEnd& end) {
    const auto [at, fresh] = ways_.try_emplace({end.sender, end.receiver});
    Way& way = at->second;
    if (!fresh)
        return way;
    way.links = fabric_.links_between(end.sender, end.receiver);
    std::vector<std::uint64_t> links;
    for (const std::uint32_t id : way.links) {
        const Link& link = *fabric_.links()[id];
        links.push_back(link.bandwidth().count());
        links.push_back(link.latency().count());
    }
    way.kind = kinds_.try_emplace(std::move(links), kinds_.size()).first->second;
    way.ordered = way.links;
    std::ranges::sort(way.ordered);
    way.counts = counts_.simulated_on(way.links);
    return way;
}

void MessageMemo::simulate(const MessageEnd& end, Known& known, const Way& way) {
    const Time now = scheduler_.now() + scheduler_.skipped();
    Simulated& message = simulated_[end.members];
    message.known = &known;
    message.way = &way;
    message.sender = end.sender;
    message.receiver = end.receiver;
    const std::uint64_t accessed = ports_[end.sends ? end.sender : end.receiver]->accessed();
    (end.sends ? message.read : message.written) = accessed;
    (end.sends ? message.seen.sender_joined : message.seen.receiver_joined) = now;
    (end.sends ? message.sender_joined : message.receiver_joined) = true;
    if (!message.moves(now))
        return;
    message.alone = message.alone && others_ == 0;
    for (auto& [members, other] : simulated_) {
        if (&other == &message || !other.moves(now))
            continue;
        if (share_any(other.way->ordered, way.ordered))
            other.clean = message.clean = false;
        if (other.sender == message.sender || other.receiver == message.receiver)
            other.alone = message.alone = false;
    }
    if (end.sends)
        message.counts = counts_.simulated_on(way.links);
}

void MessageMemo::told(const MemberListener& of, bool sends, Time end) {
    const auto found = simulated_.find(&of);
    if (found == simulated_.end())
        return;
    Simulated& message = found->second;
    (sends ? message.seen.sender_done : message.seen.receiver_done) = end + scheduler_.skipped();
    (sends ? message.sender_done : message.receiver_done) = true;
    if (!message.sender_done || !message.receiver_done)
        return;
    if (message.alone)
        learn(message);
    simulated_.erase(found);
}

void MessageMemo::learn(const Simulated& message) {
    Known& known = *message.known;
    const auto least = [](std::optional<double>& known_bytes, std::uint64_t bytes) {
        const auto moved = static_cast<double>(bytes);
        known_bytes = std::min(known_bytes.value_or(moved), moved);
    };
    // Other collectives of the ranks ask their memories too.
    least(known.read, ports_[message.sender]->accessed() - message.read);
    least(known.written, ports_[message.receiver]->accessed() - message.written);
    known.times.learn(message.seen);
    // Once others pass, those that are simulated are soon alone.
    if (!message.clean &&
        (message.way != known.measured || !known.times.knows(true) || ++known.tries < kMostTries))
        return;
    const std::vector<TrafficCounts::Count> counts = counts_.simulated_on(message.way->links);
    known.traffic.resize(counts.size(), HUGE_VAL);
    for (std::size_t i = 0; i < counts.size(); ++i)
        known.traffic[i] = std::min(known.traffic[i], counts[i].value - message.counts[i].value);
    for (const auto& [ends, messages] : std::exchange(known.owed, {}))
        count(known, ends.first, ends.second, messages);
}

void MessageMemo::count(
    Known& known, std::uint32_t sender, std::uint32_t receiver, std::uint32_t messages) {
    const Way& way = ways_.at({sender, receiver});
    if (known.traffic.size() < way.counts.size()) {
        known.owed[{sender, receiver}] += messages;
        return;
    }
    std::vector<TrafficCounts::Count> counts = way.counts;
    for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i].value = messages * known.traffic[i];
    counts_.add(counts);
}

Time MessageMemo::moved_at(const Passing& passing, Time much) const {
    const Time due = std::min(much, passing.whole());
    const double left = std::max(0.0, static_cast<double>(due.count()) - passing.moved);
    if (left == 0)
        return passing.since;
    return passing.since + Time(static_cast<std::uint64_t>(std::ceil(left / passing.pace)));
}

std::optional<Time> MessageMemo::sender_end(const Passing& passing) const {
    if (!passing.sender_joined)
        return std::nullopt;
    const MessageTimes& times = passing.known->times;
    const bool late =
        passing.receiver_joined ? *passing.receiver_joined > *passing.sender_joined : true;
    if (!late)
        return moved_at(passing, times.waiting().sender);
    if (times.late().alone)
        return moved_at(passing, *times.late().alone);
    if (!passing.receiver_joined)
        return std::nullopt;
    return std::max(
        moved_at(passing, times.waiting().sender), *passing.receiver_joined + times.late().sender);
}

std::optional<Time> MessageMemo::receiver_end(const Passing& passing) const {
    if (!passing.sender_joined || !passing.receiver_joined)
        return std::nullopt;
    const Time moved = moved_at(passing, passing.whole());
    if (*passing.receiver_joined <= *passing.sender_joined)
        return moved;
    return std::max(moved, *passing.receiver_joined + passing.known->times.late().receiver);
}

void MessageMemo::share() {
    const Time now = scheduler_.now();
    for (Passing& one : passing_) {
        one.moved += one.pace * static_cast<double>((now - std::min(one.since, now)).count());
        one.since = now;
    }
    for (std::size_t i = 0; i < passing_.size(); ++i) {
        Passing& one = passing_[i];
        if (one.members == nullptr)
            continue;
        double pace = 0;
        if (one.moves()) {
            std::size_t sent = 0;
            std::size_t received = 0;
            for (const Passing& other : passing_) {
                const bool moves = other.members != nullptr && other.moves();
                sent += moves && other.sender == one.sender ? 1 : 0;
                received += moves && other.receiver == one.receiver ? 1 : 0;
            }
            pace = 1 / static_cast<double>(std::max(sent, received));
        }
        const bool changed = pace != one.pace;
        one.pace = pace;
        post(i);
        if (changed) {
            stream(one.sender);
            stream(one.receiver);
        }
    }
}

void MessageMemo::stream(std::uint32_t rank) {
    double bytes_per_second = 0;
    for (const Passing& one : passing_) {
        if (one.members == nullptr || one.pace == 0)
            continue;
        const double rate = one.pace / to_seconds(one.whole());
        if (one.sender == rank)
            bytes_per_second += one.known->read.value_or(0) * rate;
        if (one.receiver == rank)
            bytes_per_second += one.known->written.value_or(0) * rate;
    }
    ports_[rank]->stream(this, bytes_per_second);
}

void MessageMemo::post(std::size_t index) {
    Passing& passing = passing_[index];
    std::optional<Time> next;
    const auto consider = [&](const std::optional<Time>& at) {
        if (at)
            next = next ? std::min(*next, *at) : *at;
    };
    if (!passing.sender_done)
        consider(sender_end(passing));
    if (!passing.receiver_done)
        consider(receiver_end(passing));
    if (passing.moves())
        consider(moved_at(passing, passing.whole()));
    ++passing.generation;
    if (next)
        scheduler_.at(
            std::max(*next, scheduler_.now()), *this,
            static_cast<std::uint64_t>(index) << 32U | passing.generation);
}

void MessageMemo::on_event(std::uint64_t tag) {
    const std::size_t index = tag >> 32U;
    if (passing_[index].members == nullptr ||
        passing_[index].generation != static_cast<std::uint32_t>(tag))
        return;
    const Time now = scheduler_.now();
    share();
    // Whoever is told may have others join.
    const auto is_due = [&](const std::optional<Time>& at) { return at && *at <= now; };
    MemberListener& members = *passing_[index].members;
    if (!passing_[index].sender_done && is_due(sender_end(passing_[index]))) {
        passing_[index].sender_done = true;
        members.on_member_done(passing_[index].sender_position, now);
    }
    if (!passing_[index].receiver_done && is_due(receiver_end(passing_[index]))) {
        passing_[index].receiver_done = true;
        members.on_member_done(passing_[index].receiver_position, now);
    }
    if (!passing_[index].over())
        return post(index);
    count(*passing_[index].known, passing_[index].sender, passing_[index].receiver, 1);
    const std::uint32_t sender = passing_[index].sender;
    const std::uint32_t receiver = passing_[index].receiver;
    passing_[index].members = nullptr;
    passing_[index].pace = 0;
    stream(sender);
    stream(receiver);
    share();
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "interconnect/switch.h"

#include <algorithm>

namespace switchfold {

namespace {

/// When the first `lines` lines of a train whose head arrives now have arrived.
Time lines_in(const Packet& train, Time now, std::uint32_t lines) {
    const Time tail(train.tail);
    return tail <= now ? now : now + (tail - now) * lines / train.lines;
}

}  // namespace

Packet Switch::line_of(const Packet& train, std::uint32_t index) {
    Packet line = train;
    line.lines = 1;
    line.tag += index;
    line.payload /= train.lines;
    const SwitchGroup& members = group(train.group);
    // Of a train that scatters all lines have one home.
    if (!members.scatters)
        line.route = (train.route + index) % static_cast<std::uint32_t>(members.towards.size());
    line.tail = lines_in(train, scheduler_.now(), index + 1).count();
    // Its share of the input buffer.
    line.wire /= train.lines;
    if (index == 0)
        line.wire += train.wire % train.lines;
    if (train.values != 0) {
        const std::vector<float>& numbers = values_.get(train.values);
        const std::size_t count = numbers.size() / train.lines;
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(index * count);
        line.values =
            values_.put(std::vector<float>(first, first + static_cast<std::ptrdiff_t>(count)));
    }
    return line;
}

std::uint64_t Switch::push_room(std::uint16_t id) {
    const SwitchGroup& members = group(id);
    if (!members.reduces)
        return UINT64_MAX;
    const auto room = [&](Link& out) {
        return ports_[out.reverse().port()].unit->room_of(id, members.unit);
    };
    if (members.up != nullptr)
        return room(*members.up);
    std::uint64_t least = UINT64_MAX;
    for (Link* down : members.down)
        least = std::min(least, room(*down));
    return least * members.down.size();
}

OptionalTime Switch::accept_train(const Packet& train, Link& from) {
    const SwitchGroup& members = group(train.group);
    const TreeRole role = role_in(members);
    const Time now = scheduler_.now();
    const Time arrived = std::max(now, Time(train.tail));
    SumTrain sums;
    std::uint32_t merged = 0;  // bytes that can be freed on arrival
    for (std::uint32_t i = 0; i < train.lines; ++i) {
        const Packet line = line_of(train, i);
        const std::uint32_t port = push_port(members, line);
        const bool may_open = !must_wait(port, role, line);
        std::optional<ReductionUnit::Push> pushed;
        if (may_open || ports_[port].unit->has_line(line))
            pushed = add_push(port, line, lines_in(train, now, i));
        if (!pushed) {
            stall(port, role, {.packet = line, .from = &from, .since = now});
            evict_for(port, role);
            continue;
        }
        merged += line.wire;
        if (pushed->ready)
            sums.lines[sums.count++] = {port, pushed->line, *pushed->ready};
    }
    values_.drop(train.values);
    if (sums.count == train.lines)
        leave_together(sums);
    else
        for (std::uint32_t i = 0; i < sums.count; ++i)
            stream_out(sums.lines[i].port, sums.lines[i].index, sums.lines[i].ready);
    if (merged == train.wire)
        return arrived;
    if (merged > 0)
        from.release(train.channel, merged, arrived);
    return std::nullopt;
}

void Switch::leave_together(const SumTrain& sums) {
    // It starts late enough that no line waits for its sum behind earlier ones.
    Time start;
    Time before;
    for (std::uint32_t i = 0; i < sums.count; ++i) {
        const SumTrain::Line& line = sums.lines[i];
        const Time leaves = leaves_at(line.port, line.index, line.ready);
        start = std::max(start, leaves - std::min(leaves, before));
        const Packet& packet = ports_[line.port].unit->line(line.index).packet;
        const Link& out = *ports_[line.port].out;
        before += serialization_time(
            Bytes(out.format().wire_bytes(packet.kind, stored_bytes(packet.payload, packet.width))),
            out.bandwidth());
    }
    std::uint32_t train = 0;
    if (free_trains_.empty()) {
        train = static_cast<std::uint32_t>(trains_.size());
        trains_.push_back(sums);
    } else {
        train = free_trains_.back();
        free_trains_.pop_back();
        trains_[train] = sums;
    }
    post_train(start, train);
}

void Switch::train_ready(std::uint32_t train) {
    const SumTrain sums = trains_[train];
    free_trains_.push_back(train);
    const SumTrain::Line& first = sums.lines.front();
    const TreeRole role = ports_[first.port].unit->line(first.index).role;
    Packet sum = close_line(ports_[first.port], first.index);
    std::vector<float> numbers;
    for (std::uint32_t i = 0; i < sums.count; ++i) {
        Packet line = sum;
        if (i > 0) {
            line = close_line(ports_[sums.lines[i].port], sums.lines[i].index);
            sum.payload += line.payload;
            sum.tail = std::max(sum.tail, line.tail);
        }
        if (line.values == 0)
            continue;
        const std::vector<float>& own = values_.get(line.values);
        numbers.insert(numbers.end(), own.begin(), own.end());
        values_.drop(line.values);
    }
    sum.lines = static_cast<std::uint8_t>(sums.count);
    sum.values = numbers.empty() ? 0 : values_.put(std::move(numbers));
    send_sum(sum);
    for (std::uint32_t i = 0; i < sums.count; ++i)
        drain(sums.lines[i].port, role);
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_unit.h"

#include "sim/core/error.h"

#include <algorithm>

namespace switchfold {

ReductionUnit::ReductionUnit(const ReductionUnitParams& params, std::uint32_t lanes) :
    params_(params),
    entries_(std::uint64_t{params.entries} * lanes),
    buffer_((params.buffer * lanes).count()),
    adder_rate_(params.adder_rate * params.adders * lanes) {
    params_.group_entries *= lanes;
}

std::uint32_t ReductionUnit::entries_for(std::uint32_t payload) const {
    const auto line = static_cast<std::uint32_t>(params_.line.count());
    return std::max(1U, (payload + line - 1) / line);
}

ReductionUnit::Quota* ReductionUnit::quota(std::uint16_t group) {
    const auto at = std::find_if(
        quotas_.begin(), quotas_.end(), [&](const Quota& q) { return q.group == group; });
    return at == quotas_.end() ? nullptr : &*at;
}

bool ReductionUnit::admit(std::uint16_t group) {
    if (params_.when_full != WhenFull::kRefuse)
        return true;
    if ((quotas_.size() + 1) * params_.group_entries > entries_)
        return false;
    quotas_.push_back({group, {}});
    return true;
}

void ReductionUnit::dismiss(std::uint16_t group) {
    std::erase_if(quotas_, [&](const Quota& q) { return q.group == group; });
}

bool ReductionUnit::room(const Packet& packet, TreeRole role, std::uint32_t bytes) const {
    const std::uint32_t needed = entries_for(packet.payload);
    // A transfer unit larger than the whole table may pass on its own; smaller ones wait for room.
    for (const Quota& q : quotas_)
        if (q.group == packet.group) {
            const std::uint32_t used = q.used[static_cast<std::size_t>(role)];
            return used == 0 || used + needed <= params_.group_entries;
        }
    const Table& t = table(role);
    return t.entries_used == 0 ||
           (t.entries_used + needed <= entries_ && t.buffer_used + bytes <= buffer_);
}

std::uint64_t ReductionUnit::room_of(std::uint16_t group, std::uint32_t widening) const {
    std::uint64_t entries = entries_;
    for (const Quota& q : quotas_)
        if (q.group == group)
            entries = params_.group_entries;
    return std::min(entries * params_.line.count(), buffer_ / widening);
}

std::uint32_t ReductionUnit::take(const Packet& packet, TreeRole role, std::uint32_t bytes) {
    std::uint32_t index = 0;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(lines_.size());
        lines_.emplace_back();
        line_bytes_.push_back(0);
    } else {
        index = free_.back();
        free_.pop_back();
    }
    Line& line = lines_[index];
    line.packet = packet;
    line.count = 0;
    line.added = line.tail = Time();
    line.role = role;
    line.open = true;
    line.push = line.leaving = line.failed = false;
    line.values.clear();
    line_bytes_[index] = bytes;
    const std::uint32_t needed = entries_for(packet.payload);
    table(role).entries_used += needed;
    table(role).buffer_used += bytes;
    if (Quota* q = quota(packet.group))
        q->used[static_cast<std::size_t>(role)] += needed;
    statistics_.peak_entries = std::max<std::uint64_t>(statistics_.peak_entries, entries_used());
    return index;
}

ReductionUnit::Span ReductionUnit::through_adder(const Packet& operands, Time now) {
    // Line by line as they arrive: work still to arrive does not delay other lines.
    if (operands.payload != timed_payload_) {
        timed_payload_ = operands.payload;
        const Bytes one = std::min(params_.line, Bytes(operands.payload));
        payload_time_ = serialization_time(Bytes(operands.payload), adder_rate_);
        line_time_ = serialization_time(one, adder_rate_);
    }
    const Time start = std::max(adder_free_, now);
    adder_free_ = start + payload_time_;
    statistics_.busy_time += payload_time_;
    statistics_.bytes_in += operands.payload;
    return {start + line_time_, std::max(adder_free_, Time(operands.tail) + line_time_)};
}

std::optional<std::uint32_t> ReductionUnit::open(
    const Packet& request, TreeRole role, std::uint32_t answers, std::uint32_t widening) {
    const std::uint32_t bytes = request.payload * widening;
    if (!room(request, role, bytes))
        return std::nullopt;
    const std::uint32_t index = take(request, role, bytes);
    lines_[index].missing = answers;
    return index;
}

std::optional<ReductionUnit::Span>
ReductionUnit::add(std::uint32_t index, const Packet& answer, Time now) {
    Line& line = lines_[index];
    SWITCHFOLD_CHECK(line.open && line.missing > 0, "an answer too many for a reduction");
    const Span sum = through_adder(answer, now);
    line.added = std::max(line.added, sum.last);
    line.count += answer.count;
    line.failed = line.failed || answer.count == 0;
    if (--line.missing > 0)
        return std::nullopt;
    line.leaving = true;
    ++table(line.role).leaving;
    return Span{sum.first + params_.latency, line.added + params_.latency};
}

void ReductionUnit::fail(std::uint32_t index) {
    lines_[index].leaving = lines_[index].failed = true;
    ++table(lines_[index].role).leaving;
    note_timeout();
}

std::optional<ReductionUnit::Push> ReductionUnit::push(
    const Packet& operands,
    TreeRole role,
    std::uint32_t members,
    std::uint32_t widening,
    Time now) {
    Push result;
    const auto [at, fresh] = lines_of_pushes_.try_emplace(key(operands), kNone);
    if (fresh) {
        const std::uint32_t bytes = operands.payload * widening;
        if (!room(operands, role, bytes)) {
            lines_of_pushes_.erase(at);
            return std::nullopt;
        }
        at->second = take(operands, role, bytes);
        Line& line = lines_[at->second];
        line.push = true;
        line.missing = members;
    } else {
        unlink(at->second);
    }
    result.line = at->second;
    result.fresh = fresh;
    Line& line = lines_[result.line];
    SWITCHFOLD_CHECK(
        operands.count <= line.missing && operands.payload == line.packet.payload,
        "operands that do not belong to the line they are pushed to");
    line.missing -= operands.count;
    line.count += operands.count;
    line.touched = now;
    if (operands.values != 0)
        line.values.push_back(operands.values);
    const Span sum = through_adder(operands, now);
    line.added = std::max(line.added, sum.last);
    if (line.missing > 0) {
        append(result.line);
        return result;
    }
    lines_of_pushes_.erase(at);
    line.leaving = true;
    ++table(line.role).leaving;
    result.ready = Span{sum.first + params_.latency, line.added + params_.latency};
    return result;
}

Time ReductionUnit::expel(std::uint32_t index, Time now) {
    Line& line = lines_[index];
    SWITCHFOLD_CHECK(line.open && line.push && !line.leaving, "no line to expel");
    unlink(index);
    lines_of_pushes_.erase(key(line.packet));
    line.leaving = true;
    ++table(line.role).leaving;
    return std::max(line.added, now) + params_.latency;
}

void ReductionUnit::append(std::uint32_t index) {
    Table& t = table(lines_[index].role);
    lines_[index].older = t.newest;
    lines_[index].newer = kNone;
    (t.newest == kNone ? t.oldest : lines_[t.newest].newer) = index;
    t.newest = index;
}

void ReductionUnit::unlink(std::uint32_t index) {
    const Line& line = lines_[index];
    Table& t = table(line.role);
    (line.older == kNone ? t.oldest : lines_[line.older].newer) = line.newer;
    (line.newer == kNone ? t.newest : lines_[line.newer].older) = line.older;
}

void ReductionUnit::close(std::uint32_t index, bool complete) {
    Line& line = lines_[index];
    SWITCHFOLD_CHECK(line.open && line.leaving, "a reduction closed too early or twice");
    line.open = false;
    --table(line.role).leaving;
    const std::uint32_t needed = entries_for(line.packet.payload);
    table(line.role).entries_used -= needed;
    table(line.role).buffer_used -= line_bytes_[index];
    if (Quota* q = quota(line.packet.group))
        q->used[static_cast<std::size_t>(line.role)] -= needed;
    if (complete) {
        ++statistics_.reductions;
        statistics_.bytes_out += line.packet.payload;
    }
    free_.push_back(index);
}

}  // namespace switchfold

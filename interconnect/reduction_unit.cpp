// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_unit.h"

#include "core/error.h"

#include <algorithm>

namespace switchfold {

namespace {

/// That of a group, or null.
template <class Quotas>
auto* quota_of(Quotas& quotas, std::uint16_t group) {
    const auto at = std::find_if(
        quotas.begin(), quotas.end(), [&](const auto& quota) { return quota.group == group; });
    return at == quotas.end() ? nullptr : &*at;
}

constexpr std::size_t kElementTypes = EnumNames<ElementType>::kNames.size();

}  // namespace

UnitFormat::UnitFormat(const OperandFormat& format, Accumulation accumulation) :
    partial_sums(format.partial_sums(accumulation)), sums(format.sums()) {
    std::size_t adder = static_cast<std::size_t>(format.type);
    if (format.quantised.at == QuantisedAt::kGpu) {
        // A line is what arrives: 8-bit numbers, whose scales come beside it.
        line = static_cast<std::uint8_t>(width_of(format.type));
        adder += kElementTypes;
    }
    timing = static_cast<std::uint16_t>(unsigned{format.operands()} << 8U | adder);
}

ReductionUnit::ReductionUnit(const ReductionUnitParams& params, std::uint32_t of_port) :
    params_(params) {
    const std::uint32_t lanes = of_port * params.units.value_or(1);
    entries_ = std::uint64_t{params.entries} * lanes;
    buffer_ = (params.buffer * lanes).count();
    params_.group_entries *= lanes;
    make_shares();
    for (const auto& [type, word] : EnumNames<ElementType>::kNames) {
        adder_rates_[static_cast<std::size_t>(type)] =
            params.adder_rate_of(type) * params.adders * lanes;
        adder_rates_[kElementTypes + static_cast<std::size_t>(type)] =
            params.narrow_rate_of(type) * params.adders * lanes;
    }
}

ReductionUnit::Held ReductionUnit::held_by(std::uint32_t payload, const UnitFormat& format) const {
    const std::uint32_t line = static_cast<std::uint32_t>(params_.line.count()) * format.line;
    return {
        std::max(1U, (payload + line - 1) / line),
        static_cast<std::uint32_t>(carried_bytes(payload, format.partial_sums))};
}

void ReductionUnit::make_shares() {
    if (!params_.tenants)
        return;
    Share rest{entries_, buffer_, {}, {}};
    const std::uint64_t times = entries_ / params_.entries;
    for (const UnitTenant& tenant : *params_.tenants) {
        if (tenant.entries == 0) {
            share_of_tenant_.push_back(SIZE_MAX);
            continue;
        }
        const std::uint64_t entries = tenant.entries * times;
        const std::uint64_t buffer = buffer_ / params_.entries * tenant.entries;
        share_of_tenant_.push_back(shares_.size());
        shares_.push_back({entries, buffer, {}, {}});
        rest.entries -= entries;
        rest.buffer -= buffer;
    }
    share_of_tenant_.push_back(SIZE_MAX);  // groups of none
    std::replace(share_of_tenant_.begin(), share_of_tenant_.end(), SIZE_MAX, shares_.size());
    shares_.push_back(rest);
}

bool ReductionUnit::admit(std::uint16_t group, std::uint32_t tenant) {
    if (!shares_.empty()) {
        if (shares_[share_of_tenant_[tenant]].entries == 0)
            return false;
        if (tenants_.size() <= group)
            tenants_.resize(group + 1U, static_cast<std::uint32_t>(params_.tenants->size()));
        tenants_[group] = tenant;
        return true;
    }
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

bool ReductionUnit::room(const Packet& packet, TreeRole role, Held held, bool alone) const {
    if (const Quota* q = quota_of(quotas_, packet.group)) {
        const std::uint32_t used = q->used[static_cast<std::size_t>(role)];
        return (used == 0 && alone) || used + held.entries <= params_.group_entries;
    }
    if (!shares_.empty()) {
        const Share& s = shares_[share_of(packet.group)];
        const auto r = static_cast<std::size_t>(role);
        return (s.entries_used[r] == 0 && alone) ||
               (s.entries_used[r] + held.entries <= s.entries &&
                s.buffer_used[r] + held.bytes <= s.buffer);
    }
    const Table& t = table(role);
    return (t.entries_used == 0 && alone) ||
           (t.entries_used + held.entries <= entries_ && t.buffer_used + held.bytes <= buffer_);
}

std::uint32_t
ReductionUnit::fits(const Packet& request, TreeRole role, const UnitFormat& format) const {
    const Held all = held_by(request.payload, format);
    if (room(request, role, all, all.entries == 1))
        return request.payload;
    const std::uint64_t line = params_.line.count() * format.line;
    std::uint64_t lines = 0;
    bool empty = false;
    if (const Quota* q = quota_of(quotas_, request.group)) {
        const std::uint64_t used = q->used[static_cast<std::size_t>(role)];
        empty = used == 0;
        lines = params_.group_entries - std::min<std::uint64_t>(used, params_.group_entries);
    } else {
        const auto free_lines = [&](std::uint64_t entries, std::uint64_t entries_taken,
                                    std::uint64_t buffer, std::uint64_t buffer_taken) {
            empty = entries_taken == 0;
            return std::min(
                entries - std::min(entries_taken, entries),
                (buffer - std::min(buffer_taken, buffer)) /
                    carried_bytes(line, format.partial_sums));
        };
        if (shares_.empty()) {
            const Table& t = table(role);
            lines = free_lines(entries_, t.entries_used, buffer_, t.buffer_used);
        } else {
            const Share& s = shares_[share_of(request.group)];
            const auto r = static_cast<std::size_t>(role);
            lines = free_lines(s.entries, s.entries_used[r], s.buffer, s.buffer_used[r]);
        }
    }
    // A buffer of less than one line holds one.
    lines = std::max<std::uint64_t>(lines, empty ? 1 : 0);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(lines * line, request.payload));
}

std::uint64_t ReductionUnit::room_of(std::uint16_t group, const UnitFormat& format) const {
    std::uint64_t entries = entries_;
    for (const Quota& q : quotas_)
        if (q.group == group)
            entries = params_.group_entries;
    std::uint64_t buffer = buffer_;
    if (!shares_.empty()) {
        entries = shares_[share_of(group)].entries;
        buffer = shares_[share_of(group)].buffer;
    }
    const std::uint64_t line = params_.line.count() * format.line;
    const std::uint64_t held = carried_bytes(line, format.partial_sums);
    return std::min(
        entries * line, held % line == 0 ? buffer / (held / line) : buffer / held * line);
}

std::uint32_t ReductionUnit::new_line(const Packet& packet, TreeRole role) {
    std::uint32_t index = 0;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(lines_.size());
        lines_.emplace_back();
        held_.emplace_back();
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
    line.request = kNone;
    line.number = line.left = 0;
    line.values.clear();
    held_[index] = {};
    return index;
}

std::uint32_t ReductionUnit::take(const Packet& packet, TreeRole role, Held held) {
    const std::uint32_t index = new_line(packet, role);
    held_[index] = held;
    table(role).entries_used += held.entries;
    table(role).buffer_used += held.bytes;
    if (Quota* q = quota_of(quotas_, packet.group))
        q->used[static_cast<std::size_t>(role)] += held.entries;
    if (!shares_.empty()) {
        Share& s = shares_[share_of(packet.group)];
        s.entries_used[static_cast<std::size_t>(role)] += held.entries;
        s.buffer_used[static_cast<std::size_t>(role)] += held.bytes;
    }
    statistics_.peak_entries = std::max<std::uint64_t>(statistics_.peak_entries, entries_used());
    return index;
}

ReductionUnit::Span
ReductionUnit::through_adder(const Packet& operands, Time now, const UnitFormat& format) {
    // Line by line as they arrive: work still to arrive does not delay other lines.
    if (operands.payload != timed_payload_ || format.timing != timed_) {
        timed_payload_ = operands.payload;
        timed_ = format.timing;
        timed_bytes_ = stored_bytes(operands.payload, format.operands());
        const Bandwidth rate = adder_rates_[format.adder()];
        payload_time_ = serialization_time(Bytes(operands.payload), rate);
        line_time_ =
            serialization_time(std::min(params_.line * format.line, Bytes(operands.payload)), rate);
    }
    const Time start = std::max(adder_free_, now);
    adder_free_ = start + payload_time_;
    statistics_.busy_time += payload_time_;
    statistics_.bytes_in += timed_bytes_;
    return {start + line_time_, std::max(adder_free_, Time(operands.tail) + line_time_)};
}

std::optional<std::uint32_t> ReductionUnit::open(
    const Packet& request, TreeRole role, std::uint32_t answers, const UnitFormat& format,
    Time now) {
    const Held held = held_by(request.payload, format);
    if (!room(request, role, held, held.entries == 1))
        return std::nullopt;
    const std::uint32_t index = take(request, role, held);
    lines_[index].packet.width = format.sums;
    lines_[index].missing = answers;
    lines_[index].opened = now;
    return index;
}

std::uint32_t ReductionUnit::divide(const Packet& request, TreeRole role) {
    const std::uint32_t index = new_line(request, role);
    lines_[index].left = request.payload;
    return index;
}

std::uint32_t ReductionUnit::open_part(
    std::uint32_t request, const Packet& part, std::uint32_t answers, const UnitFormat& format,
    Time now) {
    const std::uint32_t index = take(part, lines_[request].role, held_by(part.payload, format));
    lines_[index].packet.width = format.sums;
    lines_[index].missing = answers;
    lines_[index].opened = now;
    lines_[index].request = request;
    lines_[index].number = lines_[request].number++;
    return index;
}

bool ReductionUnit::note_part(std::uint32_t request, std::uint32_t bytes, bool failed) {
    Line& line = lines_[request];
    SWITCHFOLD_CHECK(line.open && line.left >= bytes, "more parts than the request has");
    line.failed = line.failed || failed;
    line.left -= bytes;
    if (line.left > 0)
        return false;
    line.leaving = true;
    ++table(line.role).leaving;
    return true;
}

std::optional<ReductionUnit::Span>
ReductionUnit::add(std::uint32_t index, const Packet& answer, Time now, const UnitFormat& format) {
    Line& line = lines_[index];
    SWITCHFOLD_CHECK(line.open && line.missing > 0, "an answer too many for a reduction");
    const Span sum = through_adder(answer, now, format);
    line.added = std::max(line.added, sum.last);
    line.count += answer.count;
    line.failed = line.failed || answer.count == 0;
    if (--line.missing > 0)
        return std::nullopt;
    line.complete = now;
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
    const Packet& operands, TreeRole role, std::uint32_t members, const UnitFormat& format,
    Time now) {
    Push result;
    const auto [at, fresh] = lines_of_pushes_.try_emplace(key(operands), kNone);
    if (fresh) {
        const Held held = held_by(operands.payload, format);
        if (!room(operands, role, held, true)) {
            lines_of_pushes_.erase(at);
            return std::nullopt;
        }
        at->second = take(operands, role, held);
        Line& line = lines_[at->second];
        line.packet.width = format.sums;
        line.push = true;
        line.opened = now;
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
    const Span sum = through_adder(operands, now, format);
    line.added = std::max(line.added, sum.last);
    if (line.missing > 0) {
        append(result.line);
        return result;
    }
    lines_of_pushes_.erase(at);
    line.complete = now;
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
    line.complete = now;
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

void ReductionUnit::close(std::uint32_t index, bool complete, std::uint8_t width, Time now) {
    Line& line = lines_[index];
    SWITCHFOLD_CHECK(line.open && line.leaving, "a reduction closed too early or twice");
    line.open = false;
    --table(line.role).leaving;
    table(line.role).entries_used -= held_[index].entries;
    table(line.role).buffer_used -= held_[index].bytes;
    if (Quota* q = quota_of(quotas_, line.packet.group))
        q->used[static_cast<std::size_t>(line.role)] -= held_[index].entries;
    if (!shares_.empty()) {
        Share& s = shares_[share_of(line.packet.group)];
        s.entries_used[static_cast<std::size_t>(line.role)] -= held_[index].entries;
        s.buffer_used[static_cast<std::size_t>(line.role)] -= held_[index].bytes;
    }
    if (params_.watch_entries.value_or(false) && held_[index].entries > 0 && !line.failed) {
        // A sum that is sent on before its tail was added frees its entry when it begins to leave.
        const Time came = std::clamp(line.complete, line.opened, std::max(line.opened, now));
        const Time ready = std::clamp(line.added + params_.latency, came, std::max(came, now));
        ++entry_statistics_.lines;
        entry_statistics_.members += came - line.opened;
        entry_statistics_.adders += ready - came;
        entry_statistics_.output += std::max(ready, now) - ready;
    }
    if (complete) {
        ++statistics_.reductions;
        statistics_.bytes_out += stored_bytes(line.packet.payload, width);
    }
    free_.push_back(index);
}

}  // namespace switchfold

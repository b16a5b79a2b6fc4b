// SPDX-License-Identifier: Apache-2.0
// Requests of more lines than find entries at once: a table works line by line, whatever travels
// as one packet. As many lines as fit are fetched, the others as entries become free.
#include "interconnect/switch.h"

#include <algorithm>

namespace switchfold {

bool Switch::open_rest(std::uint32_t port, Stalled& waiting) {
    ReductionUnit& unit = *ports_[port].unit;
    if (waiting.request == ReductionUnit::kNone && open_pull(port, waiting.packet))
        return true;
    const SwitchGroup& members = group(waiting.packet.group);
    if (waiting.request != ReductionUnit::kNone && unit.line(waiting.request).failed)
        return give_up_rest(port, waiting);
    const TreeRole role = role_in(members);
    Packet part = waiting.packet;
    part.payload -= waiting.opened;
    const std::uint32_t left = part.payload;
    part.payload = unit.fits(part, role, members.unit);
    if (part.payload == 0)
        return false;
    if (waiting.request == ReductionUnit::kNone)
        waiting.request = unit.divide(waiting.packet, role);
    const std::uint32_t line =
        unit.open_part(waiting.request, part, members.answers, members.unit, scheduler_.now());
    if (failed_) {
        time_out(port, line);
        waiting.opened += part.payload;
        return give_up_rest(port, waiting);
    }
    fetch(port, line, part, waiting.opened);
    waiting.opened += part.payload;
    if (part.payload == left)
        return true;
    // What has been fetched leaves the input buffer.
    const auto freed =
        static_cast<std::uint32_t>(std::uint64_t{waiting.packet.wire} * part.payload / left);
    if (freed > 0)
        waiting.from->release(waiting.packet.channel, freed, scheduler_.now());
    waiting.packet.wire -= freed;
    return false;
}

bool Switch::give_up_rest(std::uint32_t port, Stalled& waiting) {
    // One line without a sum is enough: the others are no longer asked for.
    ReductionUnit& unit = *ports_[port].unit;
    const std::uint32_t left = waiting.packet.payload - waiting.opened;
    if (unit.note_part(waiting.request, left, true))
        send_line(port, waiting.request);
    return true;
}

void Switch::end_part(std::uint32_t port, std::uint32_t part) {
    ReductionUnit& unit = *ports_[port].unit;
    const std::uint32_t index = unit.line(part).request;
    const std::uint32_t number = unit.line(part).number;
    const Packet sum = close_line(ports_[port], part);
    ReductionUnit::Line& request = unit.line(index);
    request.count = std::max<std::uint32_t>(request.count, sum.count);
    request.tail = std::max(request.tail, Time(sum.tail));
    if (sum.values != 0) {
        request.values.resize(request.number, 0);
        request.values[number] = sum.values;
    }
    if (!unit.note_part(index, sum.payload, sum.count == 0))
        return;
    gather_parts(request);
    send_line(port, index);
}

void Switch::gather_parts(ReductionUnit::Line& request) {
    if (request.failed || request.values.empty())
        return;
    std::vector<float> numbers;
    for (const std::uint32_t handle : request.values) {
        const std::vector<float>& own = values_.get(handle);
        numbers.insert(numbers.end(), own.begin(), own.end());
        values_.drop(handle);
    }
    request.values.assign(1, values_.put(std::move(numbers)));
}

}  // namespace switchfold

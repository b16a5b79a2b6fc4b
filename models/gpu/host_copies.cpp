// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/host_copies.h"

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::size_t kToDevice = 0;
constexpr std::size_t kToHost = 1;

/// Bytes that a link carries in a given time.
std::uint64_t carried(Bandwidth bandwidth, Time time) {
    constexpr std::uint64_t kPerSecond = 1'000'000'000'000;
    const auto scaled = static_cast<unsigned __int128>(bandwidth.count()) * time.count();
    return static_cast<std::uint64_t>(scaled / kPerSecond);
}

}  // namespace

HostCopies::HostCopies(
    const CopyParams& params, MemorySystem& memory, Fabric& fabric, std::uint32_t rank,
    Scheduler& scheduler) :
    params_(params), memory_(memory), fabric_(fabric), rank_(rank), scheduler_(scheduler) {}

bool HostCopies::takes(const CopyOperation& copy) const {
    if (copy.kind != CopyKind::kHostToDevice && copy.kind != CopyKind::kDeviceToHost)
        return false;
    return params_.duplex < 1 || !fabric_.host_path(rank_).empty();
}

void HostCopies::start(std::uint32_t id, const CopyOperation& copy, CopyListener& listener) {
    const bool one_way = params_.engines > 1 && copy.kind == CopyKind::kDeviceToHost;
    const std::size_t engine = one_way ? kToHost : kToDevice;
    const Waiting waiting{id, copy, &listener};
    if (engines_[engine].running.listener == nullptr)
        begin(engine, waiting);
    else
        engines_[engine].queue.push_back(waiting);
}

void HostCopies::begin(std::size_t engine, const Waiting& waiting) {
    const Time now = scheduler_.now();
    engines_[engine].running = {waiting, now, now, Bytes(0)};
    fabric_.begin_host_copy();
    move_piece(engine);
}

Time HostCopies::pace(const CopyOperation& copy, Bytes moved) const {
    if (copy.isolated.count() > 0)
        return part_of(copy.isolated, moved, copy.bytes);
    const bool to_device = copy.kind == CopyKind::kHostToDevice;
    return serialization_time(moved, to_device ? params_.host_bandwidth : params_.rate_to_host());
}

void HostCopies::move_piece(std::size_t engine) {
    Running& running = engines_[engine].running;
    const CopyOperation& copy = running.copy;
    const bool to_device = copy.kind == CopyKind::kHostToDevice;
    const Bytes piece = std::min(copy.bytes - running.moved, params_.outstanding);
    const Time before = pace(copy, running.moved);
    running.moved += piece;
    const Time paced = pace(copy, running.moved);
    Passed passed;
    passed.alone = running.pace_begin + paced;
    if (piece.count() > 0) {
        // A measured copy held its links no longer than it took.
        const Time limit = copy.isolated.count() > 0 ? paced - before : Time();
        const Time served =
            memory_.access(to_device ? 0 : piece.count(), to_device ? piece.count() : 0);
        if (copy.isolated.count() == 0)
            passed.alone = std::max(passed.alone, served);
        passed.shared = passed.alone;
        pass_links(to_device, piece, limit, passed);
        if (params_.duplex < 1)
            pass_engines(piece, limit, passed);
        fabric_.host_traffic().bytes += piece.count();
        (to_device ? statistics_.to_device_bytes : statistics_.to_host_bytes) += piece.count();
    }
    const Time next = std::max(passed.alone, passed.shared);
    statistics_.shared_time += next - passed.alone;
    // A delay postpones the rest of the copy, which does not catch up.
    running.pace_begin = next - paced;
    scheduler_.at(next, *this, engine);
}

void HostCopies::pass_links(bool to_device, Bytes piece, Time limit, Passed& passed) {
    const Time now = scheduler_.now();
    const auto payload = static_cast<std::uint32_t>(piece.count());
    for (const HostHop& hop : fabric_.host_path(rank_)) {
        Link& link = to_device ? hop.link->reverse() : *hop.link;
        const std::uint64_t most = limit != Time() ? carried(hop.healthy, limit) : UINT32_MAX;
        const auto at_most = [&](std::uint64_t wire) {
            return static_cast<std::uint32_t>(std::min(wire, most));
        };
        const PacketFormat& format = link.format();
        const Time from = std::max(now, link.busy_until());
        const Time left =
            link.carry(payload, at_most(format.wire_bytes(PacketKind::kCopyWrite, payload)));
        passed.alone = std::max(passed.alone, now + (left - from));
        passed.shared = std::max(passed.shared, left);
        // The device requests the data that it reads, a packet's worth at a time.
        if (to_device)
            hop.link->add_overhead(at_most(
                format.packets(PacketKind::kCopyWrite, payload) *
                format.wire_bytes(PacketKind::kReadRequest, 1)));
    }
}

void HostCopies::pass_engines(Bytes piece, Time limit, Passed& passed) {
    const auto both =
        static_cast<double>((params_.host_bandwidth + params_.rate_to_host()).count());
    const Bandwidth rate(static_cast<std::uint64_t>(both * params_.duplex));
    const Time now = scheduler_.now();
    Time takes = serialization_time(piece, rate);
    if (limit != Time())
        takes = std::min(takes, limit);
    both_free_ = std::max(both_free_, now) + takes;
    passed.alone = std::max(passed.alone, now + takes);
    passed.shared = std::max(passed.shared, both_free_);
}

void HostCopies::on_event(std::uint64_t tag) {
    Engine& engine = engines_[tag];
    const Running ended = engine.running;
    if (ended.moved < ended.copy.bytes)
        return move_piece(tag);
    engine.running.listener = nullptr;
    --fabric_.host_traffic().copies;
    ++statistics_.copies;
    statistics_.busy_time += scheduler_.now() - ended.begin;
    if (!engine.queue.empty()) {
        const Waiting next = engine.queue.front();
        engine.queue.pop_front();
        begin(tag, next);
    }
    ended.listener->on_copy_end(ended.id);
}

}  // namespace switchfold

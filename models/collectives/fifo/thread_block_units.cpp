// SPDX-License-Identifier: Apache-2.0
// How a block moves the units of a slice: its pace, packets, loads over the link and, in functional
// mode, sums.
#include "core/error.h"
#include "models/collectives/fifo/network_proxy.h"
#include "models/collectives/fifo/thread_block.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace switchfold {

void ThreadBlock::account(std::uint32_t bytes, std::uint64_t& until) {
    const Transport& transport = context_.transport;
    const std::uint64_t wire = transport.wire(bytes);
    std::uint64_t read = step_.load && !step_.staged ? bytes : 0;
    std::uint64_t written = step_.store && !step_.staged ? bytes : 0;
    if (step_.adds)
        read += bytes;
    read += wire * peers_in(step_.receive & ~loads_);
    written += wire * peers_in(step_.send & local_);
    until = std::max(until, port_.access(read, written).count());
}

void ThreadBlock::move_unit() {
    const Transport& transport = context_.transport;
    const std::uint64_t now = context_.fabric->scheduler().now().count();
    const std::uint32_t bytes = std::min(transport.unit, slice_ - slice_done_);
    if (step_.staged && !stage_ready(bytes))
        return;
    const std::uint32_t unit = units_done_++;
    std::uint64_t next = pace_.next_after(now, step_, step_done_ + slice_done_, bytes);
    account(bytes, next);
    const std::uint32_t values = context_.buffers != nullptr ? combine(bytes, unit) : 0;
    send_unit(bytes, unit, values);
    if (step_.staged)
        program_->moved(step_done_ + slice_done_, bytes);
    slice_done_ += bytes;
    free_at_ = after_departures(now, next);
    if (slice_done_ == slice_) {
        end_slice();
    } else if (blocked_ > 0) {
        state_ = State::kBlocked;
    } else {
        context_.fabric->scheduler().at(Time(free_at_), *this, 0);
    }
}

bool ThreadBlock::stage_ready(std::uint32_t bytes) {
    Scheduler& scheduler = context_.fabric->scheduler();
    const std::uint64_t ready = program_->available(step_done_ + slice_done_, bytes);
    if (ready <= scheduler.now().count())
        return true;
    state_ = State::kWaitStage;
    if (ready != Program::kNotYet) {
        state_ = State::kScheduled;
        scheduler.at(Time(ready), *this, 0);
    }
    return false;
}

std::uint64_t ThreadBlock::after_departures(std::uint64_t now, std::uint64_t next) {
    // Packets that have left no longer count.
    while (!departures_.empty() && departures_.front() <= now)
        departures_.pop_front();
    while (departures_.size() >= context_.transport.store_units) {
        next = std::max(next, departures_.front());
        departures_.pop_front();
    }
    return next;
}

void ThreadBlock::send_unit(std::uint32_t bytes, std::uint32_t unit, std::uint32_t values) {
    const Transport& transport = context_.transport;
    const std::uint32_t wire = transport.wire(bytes);
    ValuePool& pool = context_.fabric->values();
    for (std::uint8_t bits = step_.send; bits != 0; bits &= static_cast<std::uint8_t>(bits - 1)) {
        Fifo& fifo = *send_[static_cast<std::size_t>(std::countr_zero(bits))];
        const std::uint32_t slot = (fifo.posted - 1U) & transport.slot_mask;
        pool.share(values);
        if (fifo.read) {
            if (values != 0)
                fifo.keep(slot, unit, values);
            continue;
        }
        if (fifo.networked) {
            fifo.flow->put(slot, unit, wire, values);
            continue;
        }
        const PacketTag tag{fifo.index, slot, unit};
        const OptionalTime departure = context_.fabric->send(
            *fifo.route, {.kind = PacketKind::kWrite,
                          .payload = wire,
                          .tag = tag.pack(),
                          .client = context_.client,
                          .slot = fifo.units++,
                          .values = values});
        next_unit_ = context_.fabric->track(*fifo.route, fifo.units);
        if (departure)
            departures_.push_back(departure->count());
        else
            ++blocked_;
    }
    pool.drop(values);
}

void ThreadBlock::request_units() {
    const Transport& transport = context_.transport;
    Fifo& fifo = *receive_[static_cast<std::size_t>(std::countr_zero(step_.receive))];
    const std::uint64_t now = context_.fabric->scheduler().now().count();
    while (requested_ < slice_ && blocked_ == 0 &&
           (requested_ == slice_done_ || requested_ - slice_done_ < transport.load_window)) {
        // A block issues its loads one by one; those of all blocks alternate on the link.
        if (next_request_ > now) {
            if (!request_scheduled_)
                context_.fabric->scheduler().at(Time(next_request_), *this, kNextRequest);
            request_scheduled_ = true;
            return;
        }
        const std::uint32_t bytes = std::min(transport.unit, slice_ - requested_);
        const PacketTag tag{
            fifo.index, fifo.consumed & transport.slot_mask, requested_ / transport.unit};
        // The request travels against the connection's data: the fabric knows the return route of
        // each stripe.
        const Connection& back = context_.fabric->connect(fifo.route->to, fifo.route->from);
        const OptionalTime departure = context_.fabric->send(
            back, {.kind = PacketKind::kReadRequest,
                   .payload = bytes,
                   .tag = tag.pack(),
                   .client = context_.client,
                   .slot = fifo.units++});
        if (!departure)
            ++blocked_;
        requested_ += bytes;
        next_request_ = now + pace_.time_of(bytes);
    }
}

void ThreadBlock::on_response(
    std::uint32_t data, std::uint32_t unit, std::uint32_t values, Time visible) {
    // A block that keeps up works while answers arrive: its rate counts from when it was last busy.
    const std::uint64_t from = std::max(free_at_, visible.count());
    std::uint64_t until = std::max(visible.count(), free_at_ + pace_.time_of(data));
    if (slice_done_ == 0)
        until = from + pace_.time_of(data);
    account(data, until);
    std::uint32_t reduced = 0;
    if (context_.buffers != nullptr) {
        Fifo& fifo = *receive_[static_cast<std::size_t>(std::countr_zero(step_.receive))];
        fifo.keep(fifo.consumed & context_.transport.slot_mask, unit, values);
        reduced = combine(data, unit);
    }
    send_unit(data, unit, reduced);
    slice_done_ += data;
    free_at_ = after_departures(visible.count(), until);
    if (slice_done_ < slice_)
        request_units();
    else
        end_slice();
}

std::uint32_t ThreadBlock::combine(std::uint32_t bytes, std::uint32_t unit) {
    ValuePool& pool = context_.fabric->values();
    std::vector<float>& buffer = (*context_.buffers)[rank_];
    const std::uint64_t first =
        (step_.offset + step_done_ + std::uint64_t{unit} * context_.transport.unit) /
        context_.element_bytes;
    const std::uint64_t count = bytes / context_.element_bytes;
    std::vector<float> out;
    const auto own = buffer.begin() + static_cast<std::ptrdiff_t>(first);
    if (step_.load)
        out.assign(own, own + static_cast<std::ptrdiff_t>(count));
    for (std::uint8_t bits = step_.receive; bits != 0;
         bits &= static_cast<std::uint8_t>(bits - 1)) {
        Fifo& fifo = *receive_[static_cast<std::size_t>(std::countr_zero(bits))];
        const std::uint32_t slot = fifo.consumed & context_.transport.slot_mask;
        const std::uint32_t handle = fifo.values.at(slot).at(unit);
        const std::vector<float>& incoming = pool.get(handle);
        SWITCHFOLD_CHECK(
            incoming.size() == count, "a unit of {} values, expected {}", incoming.size(), count);
        if (out.empty())
            out = incoming;
        else
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = round_to(context_.element, incoming[i] + out[i]);
        pool.drop(handle);
    }
    if (!step_.store)
        return step_.send != 0 ? pool.put(std::move(out)) : 0;
    const auto kept = (*context_.results)[rank_].begin() + static_cast<std::ptrdiff_t>(first) +
                      step_.shift / static_cast<std::int64_t>(context_.element_bytes);
    if (step_.adds)
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = round_to(context_.element, kept[static_cast<std::ptrdiff_t>(i)] + out[i]);
    std::copy(out.begin(), out.end(), kept);
    return step_.send != 0 ? pool.put(std::move(out)) : 0;
}

}  // namespace switchfold

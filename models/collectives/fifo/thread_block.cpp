// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/fifo/thread_block.h"

#include "core/error.h"
#include "core/prefetch.h"
#include "models/collectives/fifo/network_proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace switchfold {

namespace {

constexpr std::size_t kProgramBytes = 128;  // covers the fields most often used

}  // namespace

ThreadBlock::ThreadBlock(
    BlockContext& context, RankPort& port, BlockListener& listener, BlockSm& sm, BlockPlan& plan) :
    context_(context),
    port_(port),
    program_(std::move(plan.program)),
    pace_(context.transport, sm, plan),
    touched_(port.touched()),
    listener_(listener),
    rank_(plan.rank) {
    program_->attach(*this);
    if (context.turns != nullptr)
        turn_ = context.turns->add(plan.channel);
}

void ThreadBlock::add_receive(Fifo& fifo) {
    if (fifo.read)
        loads_ |= static_cast<std::uint8_t>(1U << receives_);
    receive_[receives_++] = &fifo;
}

void ThreadBlock::add_send(Fifo& fifo) {
    const auto bit = static_cast<std::uint8_t>(1U << sends_);
    if (fifo.read || fifo.networked)
        local_ |= bit;
    else if (!context_.transport.lines)
        fenced_ |= bit;
    if (fifo.over_host && !fifo.read && context_.transport.host_store_rate != Bandwidth())
        over_host_ |= bit;
    send_[sends_++] = &fifo;
}

void ThreadBlock::start(Time start) {
    free_at_ = start.count();
    state_ = State::kWaitData;
    advance();
}

void ThreadBlock::wake() {
    if (state_ == State::kWaitData || state_ == State::kWaitSlot) {
        advance();
    } else if (state_ == State::kWaitStage) {
        state_ = State::kScheduled;
        move_unit();
    }
}

bool ThreadBlock::loads_over_link() const {
    return (step_.receive & loads_) != 0;
}

bool ThreadBlock::fetch_step() {
    if (slice_ != 0 || step_done_ < step_.bytes)
        return true;
    // A program may wake other blocks, whose steps wake this one: it is at work already.
    state_ = State::kScheduled;
    const std::optional<Step> next = program_->next();
    if (!next)
        return false;
    step_ = *next;
    step_done_ = 0;
    step_slice_ = context_.transport.slice_of(step_.bytes);
    if (context_.turns != nullptr && program_->begins_turn())
        context_.turns->note(turn_, context_.fabric->scheduler().now().count());
    return true;
}

void ThreadBlock::advance() {
    if (blocked_ > 0) {
        state_ = State::kBlocked;
        return;
    }
    const std::uint64_t now = context_.fabric->scheduler().now().count();
    if (!fetch_step()) {
        if (fence_ != 0) {
            state_ = State::kFence;
            return;
        }
        state_ = State::kDone;
        listener_.on_block_done(rank_, Time(std::max(now, free_at_)));
        return;
    }
    const Transport& transport = context_.transport;
    std::uint64_t start = std::max(now, free_at_);
    if (step_done_ == 0 && slice_ == 0) {
        start = std::max(start, pace_.round_until());
        if (step_.gated) {
            const std::uint64_t gate = program_->may_begin();
            if (gate == Program::kNotYet) {
                state_ = State::kWaitData;
                return;
            }
            start = std::max(start, gate);
        }
        if (step_.aside) {
            state_ = State::kAside;
            program_->move_aside(start);
            return;
        }
    }
    for (std::uint8_t bits = step_.receive; bits != 0;
         bits &= static_cast<std::uint8_t>(bits - 1)) {
        Fifo& fifo = *receive_[static_cast<std::size_t>(std::countr_zero(bits))];
        if (fifo.ready == fifo.consumed) {
            state_ = State::kWaitData;
            return;
        }
        start = std::max(
            start, fifo.slice(fifo.consumed).time + transport.delays_of(fifo.networked).hop);
    }
    for (std::uint8_t bits = step_.send; bits != 0; bits &= static_cast<std::uint8_t>(bits - 1)) {
        Fifo& fifo = *send_[static_cast<std::size_t>(std::countr_zero(bits))];
        if (fifo.full(transport.slots)) {
            fifo.full_for_sender = true;
            state_ = State::kWaitSlot;
            return;
        }
        start = std::max(start, fifo.room_since(transport.slots, now));
    }
    slice_ = static_cast<std::uint32_t>(std::min(step_slice_, step_.bytes - step_done_));
    slice_done_ = 0;
    units_done_ = 0;
    requested_ = 0;
    // Lines for the next rank queue with the block's stores to its own buffer.
    if (step_done_ == 0)
        start += pace_.delay_of_stores(step_);
    pace_.begin(step_, over_host_);
    for (std::uint8_t bits = step_.send; bits != 0; bits &= static_cast<std::uint8_t>(bits - 1)) {
        send_[static_cast<std::size_t>(std::countr_zero(bits))]->post(slice_, transport.slots);
    }
    state_ = State::kScheduled;
    context_.fabric->scheduler().at(Time(start), *this, 0);
}

void ThreadBlock::on_event(std::uint64_t tag) {
    if (state_ == State::kDone)
        return;
    prefetch(send_[0], Fifo::kHotBytes);
    prefetch(receive_[0], Fifo::kHotBytes);
    if (tag == kNextRequest) {
        request_scheduled_ = false;
        if (state_ == State::kLoading)
            request_units();
        return;
    }
    if (loads_over_link()) {
        state_ = State::kLoading;
        request_units();
    } else {
        move_unit();
    }
}

void ThreadBlock::prepare(Prepare step) const {
    if (step == Prepare::kFirst) {
        next_unit_.fetch();
        prefetch(send_[0], Fifo::kHotBytes);
        prefetch(receive_[0], Fifo::kHotBytes);
        prefetch(program_.get(), kProgramBytes);
        prefetch(&port_);
        prefetch(touched_);
        return;
    }
    if (const Fifo* fifo = receive_[0]; fifo != nullptr)
        prefetch(fifo->route);
}

void ThreadBlock::end_slice() {
    // The warp that announces slices comes to the barrier at their ends when it has announced the
    // last one.
    if (fence_ != 0)
        state_ = State::kFence;
    else
        finish_slice();
}

void ThreadBlock::on_acknowledged() {
    if (fence_ == 0)
        return;
    std::uint64_t performed = fence_since_;
    for (std::uint8_t bits = fence_; bits != 0; bits &= static_cast<std::uint8_t>(bits - 1)) {
        Fifo& fifo = *send_[static_cast<std::size_t>(std::countr_zero(bits))];
        const Fifo::Slice& slice = fifo.slice(fifo.ready);
        if (slice.arrived != slice.expected)
            return;
        performed = std::max(performed, slice.time + fifo.route->latency.count());
    }
    for (std::uint8_t bits = std::exchange(fence_, 0); bits != 0;
         bits &= static_cast<std::uint8_t>(bits - 1))
        announce(*send_[static_cast<std::size_t>(std::countr_zero(bits))], performed);
    if (state_ != State::kFence)
        return;
    free_at_ = std::max(free_at_, performed);
    if (slice_ != 0)
        finish_slice();
    else
        advance();
}

void ThreadBlock::announce(Fifo& fifo, std::uint64_t at) {
    // The flag that announces data in the FIFO crosses the link.
    Fifo::Slice& slice = fifo.slice(fifo.ready);
    slice.arrived = slice.expected;
    slice.time = std::max(slice.time, at + fifo.route->latency.count());
    ++fifo.ready;
    fifo.receiver->wake();
}

void ThreadBlock::finish_slice() {
    const Transport& transport = context_.transport;
    state_ = State::kWaitData;
    pace_.end();
    step_done_ += slice_;
    slice_ = 0;
    const std::uint64_t end = free_at_;
    // With line protocols, a chunk is processed while it arrives; the block's barriers occur once
    // per chunk, and nothing of the next one overlaps with them.
    if (transport.round != 0) {
        if (step_done_ == step_.bytes)
            pace_.end_step(free_at_);
    } else if (!transport.lines || step_done_ == step_.bytes) {
        free_at_ += transport.slice_overhead;
    }
    // Simple has a warp that posts beside the others; with lines the block does it.
    const std::uint64_t done = transport.lines ? free_at_ : end;
    for (auto bits = static_cast<std::uint8_t>(step_.send & local_); bits != 0;
         bits &= static_cast<std::uint8_t>(bits - 1)) {
        Fifo& fifo = *send_[static_cast<std::size_t>(std::countr_zero(bits))];
        if (!fifo.networked) {
            // The fence for what lies in the GPU's own memory takes as long as the barriers.
            announce(fifo, free_at_);
        } else if (!transport.lines || step_done_ == step_.bytes) {
            const std::uint64_t posted = done + transport.network_post;
            free_at_ = transport.lines ? posted : free_at_;
            fifo.flow->post(posted);  // NCCL's proxy sends whole steps with every protocol
        }
    }
    for (std::uint8_t bits = step_.receive; bits != 0;
         bits &= static_cast<std::uint8_t>(bits - 1)) {
        Fifo& fifo = *receive_[static_cast<std::size_t>(std::countr_zero(bits))];
        if (context_.buffers != nullptr && !fifo.values.empty())
            fifo.values[fifo.consumed & transport.slot_mask].clear();
        const std::uint64_t now =
            done + (fifo.networked && !transport.lines ? transport.network_post : 0);
        std::uint64_t& credit = fifo.slice(fifo.consumed).time;
        credit = now + fifo.route->latency.count() + transport.delays_of(fifo.networked).credit;
        if (fifo.networked && transport.lines && step_done_ == step_.bytes)
            credit +=
                fifo.inbound->serve(now, transport.wire(static_cast<std::uint32_t>(step_.bytes))) -
                now;
        ++fifo.consumed;
        // Most senders do not wait, so their memory is not touched.
        if (std::exchange(fifo.full_for_sender, false))
            fifo.sender->wake();
    }
    fence_ = step_.send & fenced_;
    fence_since_ = end;
    on_acknowledged();
    if (step_.told && step_done_ == step_.bytes) {
        program_->ended(free_at_);
        if (state_ != State::kWaitData)
            return;  // another block's step has let it go on
    }
    advance();
}

void ThreadBlock::end_aside(std::uint64_t end) {
    if (state_ != State::kAside)
        return;
    free_at_ = std::max(free_at_, end);
    step_done_ = step_.bytes;
    state_ = State::kWaitData;
    if (step_.told) {
        program_->ended(free_at_);
        if (state_ != State::kWaitData)
            return;
    }
    advance();
}

void ThreadBlock::on_departure(Time departure) {
    SWITCHFOLD_CHECK(blocked_ > 0, "a departure nobody waits for");
    --blocked_;
    free_at_ = std::max(free_at_, departure.count());
    if (blocked_ > 0)
        return;
    if (state_ == State::kLoading) {
        request_units();
    } else if (state_ == State::kBlocked) {
        if (slice_ != 0) {
            state_ = State::kScheduled;
            context_.fabric->scheduler().at(
                Time(std::max(free_at_, context_.fabric->scheduler().now().count())), *this, 0);
        } else {
            state_ = State::kWaitData;
            advance();
        }
    }
}

std::string ThreadBlock::waiting_for() const {
    switch (state_) {
    case State::kIdle:
        return "its kernel is not resident";
    case State::kWaitData:
        return "data from a peer";
    case State::kWaitSlot:
        return "a free slot at a peer";
    case State::kWaitStage:
        return "the switches of its machine";
    case State::kScheduled:
    case State::kLoading:
        return "answers over the link";
    case State::kBlocked:
        return "credits of its link";
    case State::kAside:
        return "the switches, or other GPUs at a barrier";
    case State::kFence:
        return "its stores to arrive";
    case State::kDone:
        break;
    }
    return "nothing";
}

}  // namespace switchfold

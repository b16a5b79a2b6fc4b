// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/fifo/fifo.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/jump/turn_log.h"
#include "models/collectives/rank_port.h"
#include "sim/core/ring_queue.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

class ThreadBlock;

/// What the thread blocks of one collective share.
struct BlockContext {
    Fabric* fabric = nullptr;
    std::uint32_t client = 0;  ///< the collective's number at the fabric
    Transport transport;
    ElementType element = ElementType::kFloat32;
    std::uint32_t element_bytes = 4;
    TurnLog* turns = nullptr;  ///< where blocks count what they do over and over; null: nowhere
    /// Functional mode: each member's buffer, and where what it stores goes; null otherwise.
    std::vector<std::vector<float>>* buffers = nullptr;
    std::vector<std::vector<float>>* results = nullptr;
};

class BlockListener {
public:
    /// The block has done its last step; its work ends at `end` (>= now).
    virtual void on_block_done(std::uint32_t rank, Time end) = 0;

protected:
    ~BlockListener() = default;
};

/// One communication thread block: runs its program slice by slice. A slice starts when its data
/// has come in on every receiving connection, every sending connection has a free slot, and the
/// block is free; it then moves transfer units, paced by the block's rate, local memory, and what
/// it may have under way.
class alignas(64) ThreadBlock final : private EventHandler {
public:
    static constexpr std::size_t kHotBytes = 256;

    /// Takes rank, program and share of the rate from the plan; its peers are added one by one.
    ThreadBlock(BlockContext& context, RankPort& port, BlockListener& listener, BlockPlan& plan);

    void add_receive(Fifo& fifo);
    void add_send(Fifo& fifo);

    /// The block is resident and may move data from `start` on.
    void start(Time start);
    /// Data has become ready, or a slot free, on a connection of this block.
    void wake();
    /// A load that the block had asked for is answered.
    void on_response(std::uint32_t data, std::uint32_t unit, std::uint32_t values, Time visible);
    /// All of a slice has arrived at a peer, and word of it is back at `at`.
    void on_acknowledged(Time at);
    /// A packet that had no credit has left.
    void on_departure(Time departure);

    /// Does nothing more.
    void abandon() { state_ = State::kDone; }

    [[nodiscard]] bool done() const { return state_ == State::kDone; }
    [[nodiscard]] Program& program() { return *program_; }
    [[nodiscard]] const Program& program() const { return *program_; }
    /// What it waits for, in words; for reports of a deadlock.
    [[nodiscard]] std::string waiting_for() const;

private:
    enum class State : std::uint8_t {
        kIdle,
        kWaitData,
        kWaitSlot,
        kWaitStage,  ///< the other stage of the collective
        kScheduled,
        kLoading,
        kBlocked,
        kFence,  ///< all stored, waits until the stores have been performed
        kDone
    };

    void on_event(std::uint64_t tag) override;
    void prepare(Prepare step) const override;
    void advance();
    void move_unit();
    void request_units();
    void end_slice();
    void finish_slice();
    bool fetch_step();
    [[nodiscard]] bool loads_over_link() const;
    /// When `next` (>= now) may be at the earliest for the block to have no more under way than it
    /// may.
    std::uint64_t after_departures(std::uint64_t now, std::uint64_t next);
    [[nodiscard]] bool stage_ready(std::uint32_t bytes);
    [[nodiscard]] std::uint64_t pace(std::uint32_t bytes);
    void account(std::uint32_t bytes, std::uint64_t& until);
    std::uint32_t combine(std::uint32_t bytes, std::uint32_t unit);
    void send_unit(std::uint32_t bytes, std::uint32_t unit, std::uint32_t values);

    // What every unit touches comes first.
    BlockContext& context_;
    RankPort& port_;
    std::unique_ptr<Program> program_;
    std::array<Fifo*, kMaxPeers> receive_{};
    std::array<Fifo*, kMaxPeers> send_{};
    std::uint8_t receives_ = 0;
    std::uint8_t sends_ = 0;
    std::uint8_t loads_ = 0;   ///< receiving connections whose FIFO is at the sender: bits
    std::uint8_t local_ = 0;   ///< sending connections whose FIFO is in our own memory: bits
    std::uint8_t fenced_ = 0;  ///< sending connections whose flag waits for the data: bits
    State state_ = State::kIdle;
    bool request_scheduled_ = false;
    Step step_;
    std::uint64_t step_done_ = 0;             ///< bytes of the step in finished slices
    std::uint64_t step_slice_ = 0;            ///< bytes of each of its slices but the last
    std::uint64_t free_at_ = 0;               ///< ps: when the block can start something new
    std::uint64_t pace_ = 0;                  ///< ps, of paced_bytes_
    std::uint32_t paced_bytes_ = UINT32_MAX;  ///< what pace_ is of
    std::uint32_t slice_ = 0;                 ///< bytes of the current slice
    std::uint32_t slice_done_ = 0;            ///< bytes moved
    std::uint32_t units_done_ = 0;            ///< units moved
    std::uint32_t blocked_ = 0;               ///< packets waiting for a credit at our link
    std::uint32_t unacknowledged_ = 0;        ///< slices under way that the fence waits for
    TransferTrack next_unit_;                 ///< of the next unit sent
    RingQueue<std::uint64_t, 2> departures_;  ///< of packets still counted as under way

    const void* touched_;  ///< by each access through the port
    BlockListener& listener_;
    std::uint32_t rank_;
    std::uint32_t warps_;
    Bandwidth stage_rate_;
    bool staged_;
    std::uint32_t requested_ = 0;     ///< bytes asked for over the link
    std::uint64_t next_request_ = 0;  ///< ps: when the block can issue its next load
    std::uint64_t acknowledged_ = 0;  ///< ps: when the last slice under way was
    std::uint32_t turn_ = 0;          ///< its number in the log of turns
};

}  // namespace switchfold

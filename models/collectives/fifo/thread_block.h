// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ring_queue.h"
#include "interconnect/fabric.h"
#include "models/collectives/fifo/block_pace.h"
#include "models/collectives/fifo/fifo.h"
#include "models/collectives/fifo/step.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/shortcuts/period_detector.h"

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
    std::uint32_t client = 0;  ///< the collective's client number at the fabric
    Transport transport;
    ElementType element = ElementType::kFloat32;
    std::uint32_t element_bytes = 4;
    PeriodDetector* turns = nullptr;  ///< log of repeating turns; null: not counted
    /// Functional mode: each member's buffer and the destination of its results; otherwise null.
    std::vector<std::vector<float>>* buffers = nullptr;
    std::vector<std::vector<float>>* results = nullptr;
};

class BlockListener {
public:
    /// The block has completed its last step; its work ends at `end` (>= now).
    virtual void on_block_done(std::uint32_t rank, Time end) = 0;

protected:
    ~BlockListener() = default;
};

/// One communication thread block: runs its program slice by slice. A slice starts when its data
/// have arrived on every receiving connection, every sending connection has a free slot, and the
/// block is free. It then moves transfer units, paced by the block's rate, local memory, and its
/// limit on data in flight.
class alignas(64) ThreadBlock final : private EventHandler {
public:
    static constexpr std::size_t kHotBytes = 256;

    /// Takes rank, program and share of the rate from the plan; peers are added one by one.
    ThreadBlock(
        BlockContext& context, RankPort& port, BlockListener& listener, BlockSm& sm,
        BlockPlan& plan);

    void add_receive(Fifo& fifo);
    void add_send(Fifo& fifo);

    /// The block is resident and may move data from `start` on.
    void start(Time start);
    /// Data have become ready, or a slot free, on a connection of this block.
    void wake();
    /// What its program moves itself is done at `end` (ps).
    void end_aside(std::uint64_t end);
    /// A load requested by the block is answered.
    void on_response(std::uint32_t data, std::uint32_t unit, std::uint32_t values, Time visible);
    /// A whole slice has arrived at a peer.
    void on_acknowledged();
    /// A packet that waited for a credit has left.
    void on_departure(Time departure);

    /// Stops all work.
    void abandon() { state_ = State::kDone; }

    [[nodiscard]] bool done() const { return state_ == State::kDone; }
    [[nodiscard]] Program& program() { return *program_; }
    [[nodiscard]] const Program& program() const { return *program_; }
    /// Describes what it waits for, for deadlock reports.
    [[nodiscard]] std::string waiting_for() const;

private:
    static constexpr std::uint64_t kNextRequest = 1;  ///< tag: a pause between loads ends

    enum class State : std::uint8_t {
        kIdle,
        kWaitData,
        kWaitSlot,
        kWaitStage,  ///< for the collective's other stage
        kScheduled,
        kLoading,
        kBlocked,
        kAside,  ///< its program moves the step
        kFence,  ///< everything is stored; waits until the stores have been performed
        kDone
    };

    void on_event(std::uint64_t tag) override;
    void prepare(Prepare step) const override;
    void advance();
    void move_unit();
    void request_units();
    void end_slice();
    void finish_slice();
    /// The receiver learns of the next slice; the flag is stored at `at` (ps).
    static void announce(Fifo& fifo, std::uint64_t at);
    bool fetch_step();
    [[nodiscard]] bool loads_over_link() const;
    /// Earliest time, at or after `next` (>= now), at which the block is within its limit of data
    /// in flight.
    std::uint64_t after_departures(std::uint64_t now, std::uint64_t next);
    [[nodiscard]] bool stage_ready(std::uint32_t bytes);
    void account(std::uint32_t bytes, std::uint64_t& until);
    std::uint32_t combine(std::uint32_t bytes, std::uint32_t unit);
    void send_unit(std::uint32_t bytes, std::uint32_t unit, std::uint32_t values);

    // Fields that every unit touches come first.
    BlockContext& context_;
    RankPort& port_;
    std::unique_ptr<Program> program_;
    std::array<Fifo*, kMaxPeers> receive_{};
    std::array<Fifo*, kMaxPeers> send_{};
    std::uint8_t receives_ = 0;
    std::uint8_t sends_ = 0;
    std::uint8_t loads_ = 0;   ///< bit set of receiving connections whose FIFO is at the sender
    std::uint8_t local_ = 0;   ///< bit set of sending connections whose FIFO is in its own memory
    std::uint8_t fenced_ = 0;  ///< bit set of sending connections whose flag must wait for the data
    std::uint8_t fence_ = 0;   ///< bit set of those whose last slice awaits its fence
    std::uint8_t over_host_ = 0;  ///< bit set of sending connections over the host's PCIe
    State state_ = State::kIdle;
    bool request_scheduled_ = false;
    Step step_;
    std::uint64_t step_done_ = 0;   ///< bytes of the step in finished slices
    std::uint64_t step_slice_ = 0;  ///< bytes of each of its slices except the last
    std::uint64_t free_at_ = 0;     ///< ps at which the block can start further work
    BlockPace pace_;
    std::uint32_t slice_ = 0;                 ///< bytes of the current slice
    std::uint32_t slice_done_ = 0;            ///< bytes moved
    std::uint32_t units_done_ = 0;            ///< units moved
    std::uint32_t blocked_ = 0;               ///< packets that wait for a credit at the GPU's link
    TransferTrack next_unit_;                 ///< for the next unit to be sent
    RingQueue<std::uint64_t, 2> departures_;  ///< of packets still counted as in flight

    const void* touched_;  ///< address that each access through the port touches
    BlockListener& listener_;
    std::uint32_t rank_;
    std::uint32_t requested_ = 0;     ///< bytes requested over the link
    std::uint64_t next_request_ = 0;  ///< ps at which the block can issue its next load
    std::uint64_t fence_since_ = 0;   ///< ps since which the last slice awaits its fence
    std::uint32_t turn_ = 0;          ///< its index in the log of turns
};

}  // namespace switchfold

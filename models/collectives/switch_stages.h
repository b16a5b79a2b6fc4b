// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/head_pieces.h"
#include "models/collectives/in_switch_steps.h"
#include "models/collectives/running_collective.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

class SwitchStagesListener {
public:
    /// The head (its position in the group) has the sum of its piece over the domain from `when`.
    virtual void on_reduced(
        std::uint32_t position, std::uint32_t channel, std::uint64_t loop, std::uint64_t when) = 0;
    virtual void on_stages_done(std::uint32_t position, Time end) = 0;

protected:
    ~SwitchStagesListener() = default;
};

/// Buffers of the functional mode, by position in the group; empty otherwise.
struct StageBuffers {
    std::vector<std::vector<float>> own;      ///< what members bring
    std::vector<std::vector<float>> sums;     ///< what heads have of it
    std::vector<std::vector<float>> results;  ///< what members get
};

/// What the GPUs of one switch domain do in a collective through the switch, as NCCL's NVLS kernels
/// do it (device/all_reduce.h, reduce_scatter.h, all_gather.h). Up to two halves, in a pipeline
/// `steps` loops deep: every member copies its buffer into the multicast buffer (scatter) and each
/// head reads its piece reduced by the switch (reduce); each head stores the final piece to all
/// (spread) and every member copies it out (gather). What happens to a piece between the halves, in
/// other machines, is not its business.
class SwitchStages final : private PacketClient, private EventHandler {
public:
    struct Halves {
        bool reduce = true;
        bool spread = true;
    };
    /// `members`: positions of the domain's GPUs, which are its heads.
    SwitchStages(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        const std::vector<std::uint32_t>& members,
        const HeadPieces& pieces,
        Halves halves,
        StageBuffers& buffers,
        SwitchStagesListener& listener);
    ~SwitchStages();
    SwitchStages(const SwitchStages&) = delete;
    SwitchStages& operator=(const SwitchStages&) = delete;
    SwitchStages(SwitchStages&&) = delete;
    SwitchStages& operator=(SwitchStages&&) = delete;

    /// `member` counts within the domain.
    void join(std::uint32_t member, Time start);
    /// The final piece of this head is there from `when` (ps) on; loops come in order.
    void spread(std::uint32_t member, std::uint32_t channel, std::uint64_t when);
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const;
    [[nodiscard]] bool uses(const Link& link) const { return group_->uses(link); }

private:
    enum class Stage : std::uint8_t { kScatter, kReduce, kSpread, kGather };
    /// One member's thread block of one channel: its groups of warps. Counters are in loops.
    struct Block {
        bool scattering = false;
        bool reducing = false;
        bool spreading = false;
        bool gathering = false;
        std::uint64_t scattered = 0;
        std::uint64_t reduced = 0;
        std::uint64_t final = 0;  ///< pieces that may be spread, those without bytes left out
        std::uint64_t spread = 0;
        std::uint64_t gathered = 0;
        std::uint64_t scatter_free = 0;  ///< ps
        std::uint64_t reduce_free = 0;
        std::uint64_t spread_free = 0;
        std::uint64_t gather_free = 0;
        std::uint64_t requested = 0;  ///< bytes of the piece under reduction
        std::uint64_t answered = 0;
        std::uint64_t stored = 0;                 ///< bytes of the piece being spread
        std::vector<std::uint64_t> arrived;       ///< final bytes of each loop in the pipeline
        std::vector<std::uint64_t> arrived_time;  ///< ps
    };
    struct Channel {
        std::vector<std::uint32_t> scattered;       ///< members that have, by loop in the pipeline
        std::vector<std::uint64_t> scattered_time;  ///< when the last of them had
        std::vector<std::uint32_t> ended;  ///< members that are through, by loop in the pipeline
        std::uint64_t finished = 0;        ///< loops that every member is through
    };
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    void on_event(std::uint64_t tag) override;

    Block& block(std::uint32_t member, std::uint32_t channel) {
        return blocks_[std::size_t{member} * channels_.size() + channel];
    }
    [[nodiscard]] std::uint64_t pace(std::uint64_t bytes) const;
    [[nodiscard]] RankPort& port(std::uint32_t member) { return *ports_[ranks_[member]]; }
    void post(Stage stage, std::uint32_t member, std::uint32_t channel, std::uint64_t due);
    void start_all();
    void try_scatter(std::uint32_t member, std::uint32_t channel);
    void end_scatter(std::uint32_t member, std::uint32_t channel);
    void try_reduce(std::uint32_t member, std::uint32_t channel);
    void request(std::uint32_t member, std::uint32_t channel);
    void on_sum(const Packet& packet, std::uint32_t member, Time visible);
    void end_reduce(std::uint32_t member, std::uint32_t channel, std::uint64_t when);
    void try_spread(std::uint32_t member, std::uint32_t channel, std::uint64_t when);
    void spread_unit(std::uint32_t member, std::uint32_t channel);
    void on_store(const Packet& packet, std::uint32_t member, Time visible);
    void try_gather(std::uint32_t member, std::uint32_t channel);
    void end_gather(std::uint32_t member, std::uint32_t channel);
    void end_loop(std::uint32_t member, std::uint32_t channel, std::uint64_t loop);
    [[nodiscard]] std::uint64_t first_element(const PieceTag& tag, std::uint64_t loop) const;
    [[nodiscard]] std::uint32_t member_of(std::uint32_t rank) const;

    Fabric& fabric_;
    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    std::vector<std::uint32_t> positions_;  ///< by member
    std::vector<std::uint32_t> ranks_;      ///< by member
    const HeadPieces& pieces_;
    Halves halves_;
    StageBuffers& buffers_;
    SwitchStagesListener& listener_;
    std::unique_ptr<ReductionGroup> group_;
    std::uint32_t client_;
    std::uint32_t n_;
    std::uint32_t unit_;
    std::uint32_t window_;
    std::uint32_t depth_;
    std::uint32_t element_bytes_;
    std::uint64_t sync_ = 0;
    Bandwidth rate_;
    bool functional_;
    std::uint32_t joined_ = 0;
    std::vector<Channel> channels_;
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> running_;  ///< channels that a member still works on
    std::vector<std::uint64_t> end_;      ///< ps, by member
};

}  // namespace switchfold

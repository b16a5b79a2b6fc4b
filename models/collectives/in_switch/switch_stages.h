// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/in_switch/domain_groups.h"
#include "models/collectives/in_switch/in_switch_steps.h"
#include "models/collectives/in_switch/nvls_chunks.h"
#include "models/collectives/in_switch/nvls_loops.h"
#include "models/collectives/in_switch/stage_state.h"
#include "models/collectives/running_collective.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

class SwitchStagesListener {
public:
    /// More of what a head (its position in the group) reduces is there, or more can be stored.
    virtual void on_progress(std::uint32_t position, std::uint32_t channel) = 0;
    virtual void on_stages_done(std::uint32_t position, Time end) = 0;
    virtual void on_unit_failure() = 0;

protected:
    ~SwitchStagesListener() = default;
};

/// Buffers of the functional mode, by position in the group; empty otherwise.
struct StageBuffers {
    std::vector<std::vector<float>> own;      ///< what members bring
    std::vector<std::vector<float>> sums;     ///< what heads have of it
    std::vector<std::vector<float>> results;  ///< what members get
};

/// What a head's sums become.
enum class Between : std::uint8_t {
    kNothing,   ///< one machine: they are the result, or there are none
    kFused,     ///< the warps that reduce hand them on from their registers
    kBuffered,  ///< they are kept in memory until they are wanted
};

/// What the GPUs of one switch domain do in a collective through the switch. Up to two halves: each
/// head reads its piece reduced by the switch (reduce), and stores the final piece to all (spread).
/// What happens to a piece between the halves, in other machines, is not its business.
class SwitchStages final : private PacketClient, private EventHandler, private NvlsLoopsListener {
public:
    struct Work {
        bool reduce = true;
        bool spread = true;
        Between between = Between::kNothing;
        bool copies = true;             ///< to where switches read, and back
        std::vector<StageWarps> warps;  ///< by channel
    };
    static constexpr std::uint64_t kNotYet = UINT64_MAX;

    /// `members`: positions of the domain's GPUs, which are its heads, or of the one that
    /// stands for all in a folded domain; `groups` spans them, and is given back at the end.
    SwitchStages(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        const std::vector<std::uint32_t>& members, DomainGroups groups, const NvlsChunks& pieces,
        Work work, StageBuffers& buffers, SwitchStagesListener& listener);
    ~SwitchStages();
    SwitchStages(const SwitchStages&) = delete;
    SwitchStages& operator=(const SwitchStages&) = delete;
    SwitchStages(SwitchStages&&) = delete;
    SwitchStages& operator=(SwitchStages&&) = delete;

    /// `member` counts within the domain.
    void join(std::uint32_t member, Time start);
    /// Fused: the reduce warps turn to their next piece: all else that they need is there.
    void reduce(std::uint32_t member, std::uint32_t channel);
    /// Bytes of this loop's piece, from its begin on, whose sums are there.
    [[nodiscard]] std::uint64_t
    reduced(std::uint32_t member, std::uint32_t channel, std::uint64_t loop);
    /// Fused: the warps have handed on that much of it, and ask for more.
    void take(std::uint32_t member, std::uint32_t channel, std::uint64_t bytes);
    /// When (ps) the head can store on; kNotYet while its link has no room.
    [[nodiscard]] std::uint64_t can_store(std::uint32_t member, std::uint32_t channel);
    /// Final values of this part of its piece go to all members.
    void store(
        std::uint32_t member, std::uint32_t channel, std::uint64_t loop, std::uint64_t offset,
        std::uint64_t bytes);
    /// Every member counts its loops here, by channel, by what its warps do; before any
    /// joins.
    void count_turns(PeriodDetector& turns) {
        loops_.count_turns(turns, work_.spread, work_.reduce);
    }
    /// Loops of the channel that nobody has begun, but for the last.
    [[nodiscard]] std::uint64_t skippable(std::uint32_t channel) const {
        return loops_.skippable(channel);
    }
    /// The pieces have left out so many of them.
    void skip(std::uint32_t channel, std::uint64_t loops) { loops_.skip(channel, loops); }
    /// Moves nothing more and tells nothing more.
    void abandon();
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const {
        return loops_.blocked(ranks_, limit);
    }
    [[nodiscard]] bool quiet() const { return stores_due_ == 0 && loops_.quiet(); }
    [[nodiscard]] bool uses(const Link& link) const { return groups_.all->uses(link); }

private:
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void on_departure(std::uint64_t tag, Time departure) override;
    void on_event(std::uint64_t tag) override;

    void on_joined(std::uint32_t member, std::uint32_t channel) override;
    void on_piece_due(std::uint32_t member, std::uint32_t channel) override {
        request(member, channel);
    }
    void on_posted(std::uint32_t member, std::uint32_t channel) override;
    void on_freed(std::uint32_t channel) override;
    void on_channel_done(std::uint32_t member, std::uint32_t channel) override;

    StageBlock& block(std::uint32_t member, std::uint32_t channel) {
        return blocks_[std::size_t{member} * loops_.channels() + channel];
    }
    [[nodiscard]] const ReductionGroup& group_in(std::uint32_t channel, std::uint64_t loop) {
        return groups_.in_loop(loop, loops_.channel(channel).loops);
    }
    [[nodiscard]] RankPort& port(std::uint32_t member) { return *ports_[ranks_[member]]; }
    [[nodiscard]] std::uint64_t now() const { return scheduler_.now().count(); }
    void try_reduce(std::uint32_t member, std::uint32_t channel);
    void request(std::uint32_t member, std::uint32_t channel);
    void on_sum(const Packet& packet, std::uint32_t member, Time visible);
    void end_reduce(std::uint32_t member, std::uint32_t channel);
    void try_spread(std::uint32_t member, std::uint32_t channel);
    void spread_on(std::uint32_t member, std::uint32_t channel);
    /// The warps that store have their next round in hand at `due`; no packet's departure, which
    /// may come before, lets them go on earlier.
    void spread_at(std::uint32_t member, std::uint32_t channel, Time due);
    void on_store(const Packet& packet, std::uint32_t member, Time visible);
    [[nodiscard]] std::uint64_t element(const PieceTag& tag);
    [[nodiscard]] std::uint32_t member_of(std::uint32_t rank) const;

    Fabric& fabric_;
    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    const CollectiveParams& params_;
    std::vector<std::uint32_t> positions_;  ///< by member
    std::vector<std::uint32_t> ranks_;      ///< by member
    const NvlsChunks& pieces_;
    Work work_;
    StageBuffers& buffers_;
    SwitchStagesListener& listener_;
    DomainGroups groups_;
    std::uint32_t client_;
    std::uint32_t n_;
    std::uint32_t element_bytes_;
    bool functional_;
    bool abandoned_ = false;
    std::vector<std::uint32_t> units_;  ///< by channel: most bytes of a packet
    std::uint32_t stores_due_ = 0;      ///< events that are still to come
    std::uint32_t joined_ = 0;
    NvlsLoops loops_;
    std::vector<StageBlock> blocks_;
    std::vector<std::uint32_t> running_;  ///< channels that a member still works on
    std::vector<Time> end_;               ///< by member
};

}  // namespace switchfold

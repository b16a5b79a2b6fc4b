// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/in_switch/rail_reduction.h"
#include "models/collectives/in_switch/switch_stages.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

/// What joins machines whose network reduces (NCCL's NVLS with CollNet, device/all_reduce.h): each
/// head reduces its piece through its machine's switches into memory and has its proxy hand every
/// chunk to the network; the switches of its rail add those of all machines and send the sum to all
/// of them; other warps of the head store it to the machine's members.
class Aggregation final : private RailListener, private EventHandler {
public:
    struct Machines {
        std::vector<SwitchStages*> stages;  ///< by machine
        const GroupLayout* layout = nullptr;
        std::vector<std::uint32_t> place;  ///< within its machine, by position
    };
    /// `groups`: one a rail, over the machines' members in the machines' order; given back at the
    /// end.
    Aggregation(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        std::vector<std::unique_ptr<ReductionGroup>> groups, const NvlsChunks& pieces,
        const StageWarps& warps, Machines machines, StageBuffers& buffers,
        SwitchStagesListener& listener);

    /// The head's warps may work from `start` on.
    void join(std::uint32_t position, Time start);
    /// Its machine's switches have something for it.
    void on_progress(std::uint32_t position, std::uint32_t channel);
    /// As RailReduction::arrange().
    void arrange() {
        for (const auto& rail : rails_)
            rail->arrange();
    }
    void abandon();
    [[nodiscard]] bool uses(const Link& link) const;
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const;

private:
    enum class Work : std::uint8_t { kBegin, kStore };
    /// One head's warps of one channel; counters are in loops.
    struct Head {
        bool storing = false;               ///< its next store is under way
        std::uint64_t begun = 0;            ///< turned to by the warps that reduce
        std::uint64_t taken = 0;            ///< bytes of the last of them that lie in memory
        std::uint64_t final = 0;            ///< added up by the network
        RingQueue<std::uint64_t> final_at;  ///< ps, of those not stored yet
        std::uint64_t free_at = 0;          ///< ps: of the warps that store
        std::uint64_t stored = 0;           ///< bytes of the next
        std::uint64_t spread = 0;           ///< stored to all
    };
    void on_final(
        std::uint32_t machine, std::uint32_t rail, std::uint32_t channel,
        std::uint64_t when) override;
    void on_rail_failure() override { listener_.on_unit_failure(); }
    void on_event(std::uint64_t tag) override;
    [[nodiscard]] Head& head(std::uint32_t position, std::uint32_t channel) {
        return heads_[std::size_t{position} * pieces_.channels() + channel];
    }
    [[nodiscard]] std::uint64_t loops_of(std::uint32_t position, std::uint32_t channel) const;
    [[nodiscard]] SwitchStages& stages_of(std::uint32_t position) const {
        return *machines_.stages[machines_.layout->machine_of[position]];
    }
    void post(Work work, std::uint32_t position, std::uint32_t channel, std::uint64_t when);
    void try_reduce(std::uint32_t position, std::uint32_t channel);
    void take(std::uint32_t position, std::uint32_t channel);
    void try_store(std::uint32_t position, std::uint32_t channel);
    void store_on(std::uint32_t position, std::uint32_t channel);

    const CollectiveParams& params_;
    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    std::vector<std::uint32_t> ranks_;  ///< by position
    const NvlsChunks& pieces_;
    StageWarps warps_;
    Machines machines_;
    SwitchStagesListener& listener_;
    bool abandoned_ = false;
    std::vector<std::unique_ptr<RailReduction>> rails_;
    std::vector<Head> heads_;
};

}  // namespace switchfold

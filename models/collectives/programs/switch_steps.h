// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/programs/block_program.h"
#include "models/collectives/running_collective.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::programs {

/// Moves what blocks do not move themselves: multimem loads and stores through the switches of each
/// machine, and barriers. A block asks for as much at once as NVLS's warps do with registered
/// buffers, and its barriers cost what NVLS's hand-overs do.
class SwitchSteps final : public AsideMover, private PacketClient, private EventHandler {
public:
    /// `memory`: of each member in functional mode, otherwise empty.
    SwitchSteps(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        const Program& program, std::vector<std::vector<float>>& memory);
    ~SwitchSteps();
    SwitchSteps(const SwitchSteps&) = delete;
    SwitchSteps& operator=(const SwitchSteps&) = delete;
    SwitchSteps(SwitchSteps&&) = delete;
    SwitchSteps& operator=(SwitchSteps&&) = delete;

    /// Asks the switches for a group a machine. \returns false, with the reason, if one has no
    /// room.
    [[nodiscard]] bool reserve(std::string& refused);
    void move(const AsideStep& step, std::uint64_t start) override;

private:
    enum class Stage : std::uint8_t { kBegin, kOn, kEnd };
    /// What a block has under way.
    struct Job {
        AsideStep step;
        std::uint64_t asked = 0;      ///< bytes
        std::uint64_t answered = 0;   ///< sums that came, or stores that left
        std::uint64_t delivered = 0;  ///< bytes, over all members
        std::uint64_t end = 0;        ///< ps
        std::uint32_t unsent = 0;     ///< packets that the link is sending
        std::uint32_t barriers = 0;   ///< that it has come to
        std::uint64_t arrived = 0;    ///< ps, at the last
        bool busy = false;
    };
    /// Blocks of one place at all members of a machine.
    struct Barrier {
        std::uint32_t come = 0;
        std::uint64_t last = 0;  ///< ps
    };
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& packet, std::uint32_t rank) override;
    void on_departure(std::uint64_t tag, Time departure) override;
    void on_event(std::uint64_t tag) override;

    void post(Stage stage, std::uint32_t job, std::uint64_t at);
    void begin(std::uint32_t job);
    void ask(std::uint32_t job);
    void store_on(std::uint32_t job);
    void store(std::uint32_t job, std::uint64_t offset, std::uint32_t bytes, std::uint32_t values);
    void try_end(std::uint32_t job);
    void arrive(std::uint32_t job);
    [[nodiscard]] std::uint32_t position_of(std::uint32_t rank) const;
    [[nodiscard]] std::uint32_t members(std::uint32_t machine) const {
        return static_cast<std::uint32_t>(ranks_of_[machine].size());
    }
    std::uint32_t take_values(std::uint32_t position, std::uint64_t offset, std::uint64_t bytes);

    Fabric& fabric_;
    Scheduler& scheduler_;
    const CollectiveParams& params_;
    const std::vector<RankPort*>& ports_;
    const CollectiveSpec& spec_;
    std::vector<std::vector<float>>& memory_;
    bool switches_;  ///< the program uses them
    std::uint32_t client_;
    std::uint32_t unit_;                                ///< bytes of a packet
    std::uint32_t round_;                               ///< that a warp asks for
    std::uint32_t window_;                              ///< that a block asks for at once
    std::vector<std::uint32_t> machine_of_;             ///< by position
    std::vector<std::vector<std::uint32_t>> ranks_of_;  ///< global, by machine
    std::vector<std::unique_ptr<ReductionGroup>> groups_;
    std::vector<std::uint32_t> first_job_;  ///< by position
    std::vector<Job> jobs_;
    /// By machine, place of the block, and number of the barrier.
    std::map<std::pair<std::uint64_t, std::uint32_t>, Barrier> barriers_;
};

}  // namespace switchfold::programs

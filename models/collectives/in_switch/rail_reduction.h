// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/in_switch/nvls_chunks.h"
#include "models/collectives/in_switch/switch_stages.h"
#include "models/collectives/running_collective.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

class RailListener {
public:
    /// The next loop's piece of this machine's head is added up over all machines from `when` (ps,
    /// may lie ahead) on.
    virtual void on_final(
        std::uint32_t machine, std::uint32_t rail, std::uint32_t channel, std::uint64_t when) = 0;
    /// A reduction unit gave up.
    virtual void on_rail_failure() = 0;

protected:
    ~RailListener() = default;
};

/// The reductions of one rail in the network (SHARP): the heads that sit on it, one a machine, hand
/// their chunks to the switches, which add them on the way up a tree and send the sum down to all.
/// Every head hands them on in the same order, loop by loop and channel by channel, as SHARP's
/// groups demand: what an open line of a switch waits for never waits behind later ones.
class RailReduction final : private PacketClient, private EventHandler {
public:
    struct Rail {
        std::uint32_t number = 0;            ///< of the heads within their machines
        std::vector<std::uint32_t> members;  ///< positions, by machine
    };
    RailReduction(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        std::unique_ptr<ReductionGroup> group, Rail rail, const NvlsChunks& pieces,
        StageBuffers& buffers, RailListener& listener);
    ~RailReduction();
    RailReduction(const RailReduction&) = delete;
    RailReduction& operator=(const RailReduction&) = delete;
    RailReduction(RailReduction&&) = delete;
    RailReduction& operator=(RailReduction&&) = delete;

    /// The machine's own sum of that loop's piece lies in its head's memory from `when` (ps) on.
    void add(std::uint32_t machine, std::uint32_t channel, std::uint64_t loop, std::uint64_t when);
    /// Cuts of the pieces changed: loops were left out in front of a channel's last, which no head
    /// has begun.
    void arrange();
    void abandon();
    [[nodiscard]] bool uses(const Link& link) const { return group_->uses(link); }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const;

private:
    /// A chunk in the order in which all hand theirs on.
    struct Chunk {
        std::uint32_t channel;
        std::uint64_t loop;
    };
    struct Head {
        std::vector<std::uint64_t> added;    ///< loops that lie in memory, by channel
        std::uint64_t added_at = 0;          ///< ps: the last of them
        std::size_t next = 0;                ///< chunk that the proxy hands on next
        std::uint64_t proxy_free = 0;        ///< ps
        std::vector<std::uint64_t> arrived;  ///< bytes of sums, by channel and loop's slot
        std::vector<std::uint64_t> arrived_at;
        std::vector<bool> complete;         ///< by channel and loop's slot
        std::vector<std::uint64_t> finals;  ///< loops told of, by channel
    };
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    std::uint32_t supply(const Packet& /*packet*/, std::uint32_t /*rank*/) override { return 0; }
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    void on_event(std::uint64_t tag) override;
    void push(std::uint32_t machine, const Chunk& chunk);
    /// Tells of the channel's chunks that are complete, loop by loop.
    void tell(std::uint32_t machine, std::uint32_t channel);
    /// The proxy's time for one chunk, after what it has to do already.
    std::uint64_t serve(Head& head, std::uint64_t when) const;

    Fabric& fabric_;
    Scheduler& scheduler_;
    const CollectiveParams& params_;
    const std::vector<RankPort*>& ports_;
    std::unique_ptr<ReductionGroup> group_;
    std::uint32_t client_;
    Rail rail_;
    const NvlsChunks& pieces_;
    StageBuffers& buffers_;
    RailListener& listener_;
    std::uint32_t unit_;
    std::uint32_t element_bytes_;
    bool functional_;
    bool abandoned_ = false;
    std::vector<Chunk> order_;
    std::vector<Head> heads_;  ///< by machine
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/jump/turn_log.h"
#include "models/collectives/parameters.h"
#include "models/collectives/peer_copies/program.h"
#include "models/collectives/rank_port.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// What all collectives of a machine share.
struct CollectiveEnvironment {
    Fabric& fabric;
    const CollectiveParams& params;
    const std::vector<RankPort*>& ports;  ///< one a global rank
    bool functional = false;
    bool may_jump = false;  ///< turns that repeat what was done before may be left out
};

/// Why an in-switch all-reduce ran as a ring after all.
enum class Fallback : std::uint8_t {
    kNone,
    kRefused,           ///< a switch had no group or no entries left for it
    kReductionTimeout,  ///< a reduction unit failed on the way: the ring began anew
    kLinkDown,          ///< a link that its group used went down, or no tree was left
};
template <>
struct EnumNames<Fallback> {
    static constexpr std::array<std::pair<Fallback, std::string_view>, 4> kNames{
        {{Fallback::kNone, ""},
         {Fallback::kRefused, "refused"},
         {Fallback::kReductionTimeout, "reduction_timeout"},
         {Fallback::kLinkDown, "link_down"}}};
};

/// One collective as it will run.
struct CollectiveSpec {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;
    Datatype datatype = Datatype::kFloat32;
    ElementType element = ElementType::kFloat32;
    std::uint32_t element_bytes = 4;
    std::vector<std::uint32_t> ranks;  ///< global, ascending; a position is an index into it
    static constexpr std::uint32_t kEveryRank = UINT32_MAX;
    std::uint32_t root = 0;  ///< position of who broadcasts, gets the sum, or sends
    Choice choice;
    std::uint32_t blocks = 0;                 ///< of its kernel; 0: one a channel
    std::uint32_t registers_per_thread = 0;   ///< of its kernel; 0: as the machine's
    Bytes shared_memory;                      ///< of one block; 0: as the machine's
    const ExpertExchange* experts = nullptr;  ///< of a dispatch or combine
    Time peers_late;  ///< after a member is resident comes the last rank that was not traced
    GroupLayout layout;
    Fallback fallback = Fallback::kNone;
    std::vector<std::vector<std::uint32_t>>
        rings;  ///< orders of positions; channel c takes ring c mod size
    std::vector<std::vector<std::uint32_t>>
        trees;  ///< parents of positions; channel c takes tree c mod size
    std::vector<ReduceTree> reduce_trees;  ///< of one by copies along trees
};

class MemberListener {
public:
    /// The part of the member at `position` moves nothing any more from `end` on (>= now).
    virtual void on_member_done(std::uint32_t position, Time end) = 0;
    /// An exchange: the member has done with one more of its peers at `end` (>= now); its blocks
    /// that served them leave. `left` of `all` rounds are not done yet, at least one.
    virtual void on_round_done(
        std::uint32_t /*position*/, std::uint32_t /*left*/, std::uint32_t /*all*/, Time /*end*/) {}
    /// The collective cannot go on the way it runs; `why` names what gave up.
    virtual void on_failure(const std::string& /*why*/) {}

protected:
    ~MemberListener() = default;
};

/// A collective under way. Members join when their kernels are resident.
class RunningCollective {
public:
    virtual ~RunningCollective() = default;
    RunningCollective() = default;
    RunningCollective(const RunningCollective&) = delete;
    RunningCollective& operator=(const RunningCollective&) = delete;
    RunningCollective(RunningCollective&&) = delete;
    RunningCollective& operator=(RunningCollective&&) = delete;

    /// The member's blocks may move data from `start` (>= now) on.
    virtual void join(std::uint32_t position, Time start) = 0;
    /// What members wait for, in words, at most `limit` lines.
    [[nodiscard]] virtual std::vector<std::string> blocked(std::size_t limit) const = 0;
    /// Bytes of communication buffers that one member keeps in use.
    [[nodiscard]] virtual Bytes footprint() const = 0;
    /// Whether nothing is scheduled any more that would wake it. Its members may end before that.
    [[nodiscard]] virtual bool quiet() const { return true; }
    /// Functional mode: each member's buffer, in the order of positions.
    [[nodiscard]] virtual std::vector<std::vector<float>>& buffers() = 0;
    /// Functional mode: each member's result, in the order of positions.
    [[nodiscard]] virtual std::vector<std::vector<float>>& results() { return buffers(); }
    /// Functional mode: what is wrong with what members hold, where the collective itself knows
    /// what they should.
    [[nodiscard]] virtual std::string wrong_result() const { return {}; }
    /// What users should know of how it ran; empty if nothing.
    [[nodiscard]] virtual std::string note() const { return {}; }
    /// Payload, over all members, that travelled in packets which stand for several.
    [[nodiscard]] virtual Bytes coarse() const { return {}; }
    /// Counts the turns of what it does over and over; null where nothing may be left out.
    [[nodiscard]] virtual TurnLog* turns() { return nullptr; }
    /// Turns of the lane that can be left out, in multiples of `unit`, and the rest still be done.
    [[nodiscard]] virtual std::uint64_t
    skippable(std::uint32_t /*lane*/, std::uint64_t /*unit*/) const {
        return 0;
    }
    /// Does so many turns less of the lane; what is under way stays.
    virtual void skip(std::uint32_t /*lane*/, std::uint64_t /*turns*/) {}
    /// Moves nothing more, tells its listener nothing more, and ignores what is still under way.
    /// Only all-reduces through the switches can.
    virtual void abandon() {}
    /// Whether it would send over this link without being able to take another way.
    [[nodiscard]] virtual bool uses(const Link& /*link*/) const { return false; }
};

/// How collectives of one algorithm are made. Nothing, and why, if a switch has no room for a group
/// that they need.
using MakeCollective = std::unique_ptr<RunningCollective>(
    const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&, std::string& refused);

/// Ring, tree and exchanges, in and across machines: thread blocks joined by FIFOs.
[[nodiscard]] MakeCollective make_fifo_collective;
/// All-reduce through the switches of one domain: the switch reads and adds (NVLS), or adds what
/// members write as it comes (Klenk et al., ISCA 2020), by the choice's mode.
[[nodiscard]] MakeCollective make_pull_all_reduce;
[[nodiscard]] MakeCollective make_push_all_reduce;
/// Collectives over the heads of switch domains: reduce-scatter and all-gather inside one,
/// all-reduce over several machines with a tree or a ring between the heads.
[[nodiscard]] MakeCollective make_heads_collective;
/// Few thread blocks on buffers that all ranks have mapped (NCCL's symmetric kernels).
[[nodiscard]] MakeCollective make_symmetric_collective;
/// Copy engines, no thread block.
[[nodiscard]] MakeCollective make_copy_collective;
/// A framework's own copies between GPUs and to the host.
[[nodiscard]] MakeCollective make_peer_copies;
/// Dispatch and combine of mixture-of-experts layers.
[[nodiscard]] MakeCollective make_experts_collective;

}  // namespace switchfold

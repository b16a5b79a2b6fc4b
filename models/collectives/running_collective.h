// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/choice/exchange.h"
#include "models/collectives/choice/group_layout.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/functional_mode.h"
#include "models/collectives/parameters.h"
#include "models/collectives/peer_copies/program.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/repeating.h"
#include "models/collectives/share.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Environment common to all collectives of a machine.
struct CollectiveEnvironment {
    Fabric& fabric;
    const CollectiveParams& params;
    const std::vector<RankPort*>& ports;  ///< one per global rank
    bool functional = false;
    bool may_jump = false;  ///< repetitions may be skipped
};

/// Why an in-switch all-reduce fell back to a ring.
enum class Fallback : std::uint8_t {
    kNone,
    kRefused,           ///< a switch had no group or no entries left for it
    kReductionTimeout,  ///< a reduction unit failed during the reduction: the ring restarted from
                        ///< the beginning
    kLinkDown,          ///< a link of its group went down, or no tree was left
};
template <>
struct EnumNames<Fallback> {
    static constexpr std::array<std::pair<Fallback, std::string_view>, 4> kNames{
        {{Fallback::kNone, ""},
         {Fallback::kRefused, "refused"},
         {Fallback::kReductionTimeout, "reduction_timeout"},
         {Fallback::kLinkDown, "link_down"}}};
};

/// A fully specified collective.
struct CollectiveSpec {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;
    Datatype datatype = Datatype::kFloat32;
    ElementType element = ElementType::kFloat32;
    std::uint32_t element_bytes = 4;
    Accumulation accumulation = Accumulation::kFloat32;  ///< of the narrowest adder of a switch
    std::vector<std::uint32_t> ranks;  ///< global, ascending; positions are indices into it
    std::uint32_t stands_for = 0;      ///< as Group::stands_for; layout and rings are the whole's
    /// Number of ranks that it has on the real machine.
    [[nodiscard]] std::uint32_t size() const {
        return stands_for != 0 ? stands_for : static_cast<std::uint32_t>(ranks.size());
    }
    [[nodiscard]] std::uint64_t share() const {
        return share_of(bytes.count(), size(), element_bytes);
    }
    static constexpr std::uint32_t kEveryRank = UINT32_MAX;
    std::uint32_t root = 0;  ///< position of the rank that broadcasts, receives the sum, or sends
    CollectiveConfig choice;
    /// What its switches are told of its numbers.
    [[nodiscard]] OperandFormat format() const {
        const auto* nccl = std::get_if<NcclConfig>(&choice.own);
        return {element, nccl != nullptr ? nccl->quantised : Quantisation()};
    }
    std::uint32_t blocks = 0;                 ///< of its kernel; 0: one per channel
    std::uint32_t registers_per_thread = 0;   ///< of its kernel; 0: the machine's default
    Bytes shared_memory;                      ///< per block; 0: the machine's default
    const ExpertExchange* experts = nullptr;  ///< for a dispatch or combine
    /// For an all-to-all whose parts differ; `bytes` is that of the even one with its largest part.
    const UnevenExchange* parts = nullptr;
    std::vector<MessageChoice> messages;  ///< with `parts`, in their order
    /// Lasts so long from the arrival of its last member on, without packets; zero: simulated.
    Time given;
    Bytes given_traffic;            ///< as CollectiveOperation::given_traffic
    Bytes given_footprint;          ///< as CollectiveOperation::given_footprint
    std::uint32_t given_links = 0;  ///< as CollectiveOperation::given_links
    Time given_busy;                ///< as CollectiveOperation::given_busy
    Time peers_late;  ///< time from a member's residence to the arrival of the last untraced rank
    GroupLayout layout;
    Fallback fallback = Fallback::kNone;
    std::vector<std::vector<std::uint32_t>>
        rings;  ///< orders of positions; channel c uses ring c mod size
    std::vector<std::vector<std::uint32_t>>
        trees;                             ///< parents of positions; channel c uses tree c mod size
    std::vector<ReduceTree> reduce_trees;  ///< for copies along trees
};

class MemberListener {
public:
    /// The part of the member at `position` moves no more data from `end` on (>= now).
    virtual void on_member_done(std::uint32_t position, Time end) = 0;
    /// Exchange: the member has finished with one more of its peers at `end` (>= now), and the
    /// blocks that served it leave. `left` of `all` rounds remain, at least one.
    virtual void on_round_done(
        std::uint32_t /*position*/, std::uint32_t /*left*/, std::uint32_t /*all*/, Time /*end*/) {}
    /// The collective cannot continue in its current form; `why` names what failed.
    virtual void on_failure(const std::string& /*why*/) {}

protected:
    ~MemberListener() = default;
};

/// An active collective. Members join when their kernels are resident. One whose work repeats
/// itself is Repeating too, one that can carry numbers is Functional; whoever needs that asks.
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
    /// Descriptions of what members wait for, at most `limit` lines.
    [[nodiscard]] virtual std::vector<std::string> blocked(std::size_t limit) const = 0;
    /// Bytes of communication buffers that one member keeps in use.
    [[nodiscard]] virtual Bytes footprint() const = 0;
    /// Whether no event is pending that would wake it. Its members may end earlier.
    [[nodiscard]] virtual bool quiet() const { return true; }
    /// Whether a member that has begun leaves operands in switches, which wait there for the
    /// others': it cannot pass as an earlier one once a member has begun.
    [[nodiscard]] virtual bool leaves_operands() const { return false; }
    /// Share of its work that one of its blocks has begun, in place of all; nothing if only its
    /// turns tell (Repeating).
    [[nodiscard]] virtual std::optional<double> share_begun() const { return std::nullopt; }
    /// A note for users on how it ran; empty if none.
    [[nodiscard]] virtual std::string note() const { return {}; }
    /// Payload, over all members, that travelled in packets which stand for several.
    [[nodiscard]] virtual Bytes coarse() const { return {}; }
    /// Starts no further movements, no longer calls its listener, and ignores data in flight.
    /// Supported by all-reduces through the switches only.
    virtual void abandon() {}
    /// Whether it would use this link without an alternative route.
    [[nodiscard]] virtual bool uses(const Link& /*link*/) const { return false; }
};

/// Signature of collectives' constructors. They return null, with the reason in `refused`, if a
/// switch has no room for a required group.
using MakeCollective = std::unique_ptr<RunningCollective>(
    const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&, std::string& refused);

/// Ring, tree and exchanges, inside and between machines: thread blocks connected by FIFOs.
[[nodiscard]] MakeCollective make_fifo_collective;
/// Direct exchange of parts that differ, over the same.
[[nodiscard]] MakeCollective make_uneven_exchange;
/// All-reduce through the switches of one domain (switch_mode.h): the switch reads and adds (NVLS),
/// or adds members' writes as they arrive (Klenk et al., ISCA 2020).
[[nodiscard]] MakeCollective make_pull_all_reduce;
[[nodiscard]] MakeCollective make_push_all_reduce;
/// Collectives over the heads of switch domains: reduce-scatter and all-gather inside one, and
/// all-reduce over several machines with a tree or ring between the heads.
[[nodiscard]] MakeCollective make_heads_collective;
/// Few thread blocks on buffers mapped by all ranks (NCCL's symmetric kernels).
[[nodiscard]] MakeCollective make_symmetric_collective;
/// Copy engines, no thread blocks.
[[nodiscard]] MakeCollective make_copy_collective;
/// A framework's own copies between GPUs and to the host.
[[nodiscard]] MakeCollective make_peer_copies;
/// The given time, without packets.
[[nodiscard]] MakeCollective make_as_traced;
/// Dispatch and combine of mixture-of-experts layers.
[[nodiscard]] MakeCollective make_experts_collective;

}  // namespace switchfold

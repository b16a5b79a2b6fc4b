// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/group_layout.h"
#include "models/collectives/parameters.h"
#include "models/collectives/rank_port.h"
#include "models/collectives/tuning.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

/// What all collectives of a machine share.
struct CollectiveEnvironment {
    Fabric& fabric;
    const CollectiveParams& params;
    const std::vector<RankPort*>& ports;  ///< one a global rank
    bool functional = false;
};

/// One collective as it will run.
struct CollectiveSpec {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;
    ElementType element = ElementType::kFloat32;
    std::uint32_t element_bytes = 4;
    std::vector<std::uint32_t> ranks;  ///< global, ascending; a position is an index into it
    std::uint32_t root = 0;            ///< position of who broadcasts, gets the sum, or sends
    Choice choice;
    GroupLayout layout;
    std::vector<std::vector<std::uint32_t>>
        rings;  ///< orders of positions; channel c takes ring c mod size
    std::vector<std::vector<std::uint32_t>>
        trees;  ///< parents of positions; channel c takes tree c mod size
};

class MemberListener {
public:
    /// The part of the member at `position` moves nothing any more from `end` on (>= now).
    virtual void on_member_done(std::uint32_t position, Time end) = 0;

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
    /// Functional mode: each member's buffer, in the order of positions.
    [[nodiscard]] virtual std::vector<std::vector<float>>& buffers() = 0;
    /// Functional mode: each member's result, in the order of positions.
    [[nodiscard]] virtual std::vector<std::vector<float>>& results() { return buffers(); }
};

/// Ring, tree and direct-exchange collectives, in and across machines: thread blocks joined by
/// FIFOs.
[[nodiscard]] std::unique_ptr<RunningCollective>
make_fifo_collective(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);
/// All-reduce through the switches: pull reduction and multicast.
[[nodiscard]] std::unique_ptr<RunningCollective>
make_in_switch_all_reduce(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);

/// Collectives over the heads of switch domains: reduce-scatter and all-gather inside one,
/// all-reduce over several machines with a tree or a ring between the heads.
[[nodiscard]] std::unique_ptr<RunningCollective>
make_heads_collective(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);

}  // namespace switchfold

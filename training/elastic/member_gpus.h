// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/elastic/change.h"

#include <cstdint>
#include <vector>

namespace switchfold {
struct ParallelPlan;
}

namespace switchfold::elastic {

/// The GPUs of each member. A member is what joins and leaves at once: a replica of the network, or
/// the replicas that divide its experts. The first members stand on the plan's own ranks; each
/// later one on the next free GPUs.
class MemberGpus {
public:
    /// Members of one GPU each.
    // NOLINTNEXTLINE(google-explicit-constructor): a machine of GPUs is such a set of members
    MemberGpus(std::uint32_t gpus) : machine_(gpus) {}
    /// `gpus`: of the machine, at least the plan's ranks.
    MemberGpus(const ParallelPlan& plan, std::uint32_t gpus);

    /// GPUs of a member.
    [[nodiscard]] std::uint32_t each() const { return inner_ * replicas_ * pipeline_; }
    /// Replicas of a member.
    [[nodiscard]] std::uint32_t replicas() const { return replicas_; }
    /// Devices of a replica's pipeline.
    [[nodiscard]] std::uint32_t devices() const { return pipeline_; }
    /// Members that train at first; 0: not stated.
    [[nodiscard]] std::uint32_t first() const { return first_; }
    /// Members that the machine has room for.
    [[nodiscard]] std::uint32_t room() const;
    /// The member that has a GPU; at least room() for a GPU that is left over.
    [[nodiscard]] std::uint32_t member_of(std::uint32_t gpu) const;
    /// Its GPUs, by place: tensor varies fastest, then context, the replica, the pipeline's device.
    [[nodiscard]] std::vector<std::uint32_t> of(std::uint32_t member) const;
    [[nodiscard]] std::uint32_t device_of(std::uint32_t place) const {
        return place / (inner_ * replicas_);
    }
    /// GPUs of all of them, ascending.
    [[nodiscard]] Members all(const Members& members) const;
    /// The GPU at a place of each member.
    [[nodiscard]] Members at(const Members& members, std::uint32_t place) const;
    /// The GPU of each rank of a plan that these members carry out.
    [[nodiscard]] std::vector<std::uint32_t> by_rank(const Members& members) const;
    /// The replica that a rank of a plan with so many replicas belongs to.
    [[nodiscard]] std::size_t index_of_replica(std::uint32_t rank, std::size_t replicas) const {
        return rank / inner_ % replicas;
    }
    /// GPUs that divide what replicas divide, of one part of the network each: by member, then by
    /// context. Places differ in tensor, in the replica's experts or in the device.
    [[nodiscard]] std::vector<Members> dividing(const Members& members) const;

private:
    std::uint32_t machine_ = 1;
    std::uint32_t tensor_ = 1;
    std::uint32_t inner_ = 1;  ///< tensor x context
    std::uint32_t replicas_ = 1;
    std::uint32_t pipeline_ = 1;
    std::uint32_t first_ = 0;
};

}  // namespace switchfold::elastic

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/parallel_plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// A rank's coordinates in a plan.
struct RankPlace {
    std::uint32_t tensor = 0;
    std::uint32_t context = 0;
    std::uint32_t data = 0;
    std::uint32_t device = 0;  ///< device of the pipeline
    bool operator==(const RankPlace&) const = default;
};

/// Kinds of groups that share something; each includes the rank itself.
enum class Sharing : std::uint8_t {
    kTensor,
    kContext,
    kExpert,      ///< together hold one layer's experts
    kExpertNode,  ///< those of them in one node
    kExpertRail,  ///< those of them at one place of each node
    kModel,       ///< together hold one copy of all weights
};
inline constexpr std::size_t kSharings = 6;

/// Ranks are numbered in Megatron's order: tensor-parallel ranks vary fastest, then parts of a
/// sample, then replicas, then the pipeline's devices.
class RankMap {
public:
    explicit RankMap(const ParallelPlan& plan) : plan_(plan) {}

    [[nodiscard]] std::uint32_t ranks() const { return ranks_of(plan_); }
    [[nodiscard]] RankPlace place(std::uint32_t rank) const;
    [[nodiscard]] std::uint32_t rank(const RankPlace& place) const;
    /// Whether its replica has samples.
    [[nodiscard]] bool at_work(const RankPlace& place) const {
        return plan_.samples.empty() || plan_.samples[place.data] > 0;
    }
    /// Ranks of its device that hold the same part of every layer, experts aside, including itself;
    /// only replicas with samples; ascending.
    [[nodiscard]] std::vector<std::uint32_t> replicas(std::uint32_t rank) const;
    /// Which part of the experts a rank's replica holds.
    [[nodiscard]] std::uint32_t expert_place(std::uint32_t rank) const {
        return place(rank).data % plan_.expert;
    }
    /// Ranks of such a group, ascending.
    [[nodiscard]] std::vector<std::uint32_t> sharing(Sharing what, std::uint32_t rank) const;

private:
    ParallelPlan plan_;
};

}  // namespace switchfold

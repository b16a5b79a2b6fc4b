// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/step/parallel_plan.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// A rank's place in a plan.
struct RankPlace {
    std::uint32_t tensor = 0;
    std::uint32_t context = 0;
    std::uint32_t data = 0;
    std::uint32_t device = 0;  ///< of the pipeline
    bool operator==(const RankPlace&) const = default;
};

/// Ranks that share something with a rank, itself among them.
enum class Sharing : std::uint8_t {
    kTensor,
    kContext,
    kExpert,  ///< one layer's experts between them
    kModel,   ///< one copy of all weights
};

/// Ranks lie in Megatron's order: tensor-parallel ones next to each other, then the parts of a
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
    /// Ranks of its device that hold the same of every layer, experts aside, and it, of replicas
    /// with samples; ascending.
    [[nodiscard]] std::vector<std::uint32_t> replicas(std::uint32_t rank) const;
    /// Ascending.
    [[nodiscard]] std::vector<std::uint32_t> sharing(Sharing what, std::uint32_t rank) const;

private:
    ParallelPlan plan_;
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/experiment.h"
#include "workloads/plan/search/lower_bound.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

/// Ways to part a system's GPUs in two, and what can flow from one part to the other.
class MachineCuts {
public:
    explicit MachineCuts(const SystemParams& system);

    struct Cut {
        std::vector<bool> side;  ///< by GPU
        double rate = 0;         ///< bytes a second, one way
    };
    [[nodiscard]] const std::vector<Cut>& cuts() const { return cuts_; }
    /// Bytes a second, one way, over all links of the GPU that has most.
    [[nodiscard]] double port_rate() const { return port_rate_; }

private:
    std::vector<Cut> cuts_;
    double port_rate_ = 0;
};

/// Whatever an algorithm does, its data have to cross every cut between its ranks. Latencies,
/// headers, memory and what else is under way come on top.
class MachineLinks : public LinkFloor {
public:
    MachineLinks(std::shared_ptr<const MachineCuts> cuts, const CollectivePolicies& policies) :
        cuts_(std::move(cuts)), policies_(policies) {}

    [[nodiscard]] double collective(
        CollectiveKind kind, double bytes, const std::vector<std::uint32_t>& ranks) const override;
    [[nodiscard]] double port(CollectiveKind kind, double bytes, std::size_t ranks) const override;
    [[nodiscard]] double message(double bytes, std::uint32_t from, std::uint32_t to) const override;

private:
    /// Rings of NCCL's kernels pass everything on from rank to rank.
    [[nodiscard]] bool runs_as_ring(CollectiveKind kind) const;

    std::shared_ptr<const MachineCuts> cuts_;
    CollectivePolicies policies_;
};

}  // namespace switchfold

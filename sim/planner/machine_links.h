// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "training/plan/search/lower_bound.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

/// Ways to divide a system's GPUs in two, and the bandwidth between the parts.
class MachineCuts {
public:
    explicit MachineCuts(const SystemParams& system);

    struct Cut {
        std::vector<bool> side;  ///< by GPU
        double rate = 0;         ///< bytes per second in one direction
    };
    [[nodiscard]] const std::vector<Cut>& cuts() const { return cuts_; }
    /// Bytes per second in one direction over all links of the best-connected GPU.
    [[nodiscard]] double port_rate() const { return port_rate_; }

private:
    std::vector<Cut> cuts_;
    double port_rate_ = 0;
};

/// Lower bounds on communication: whatever the algorithm, data must cross every cut between the
/// ranks. Ignores latencies, headers, memory and concurrent traffic.
class MachineLinks : public LinkFloor {
public:
    MachineLinks(std::shared_ptr<const MachineCuts> cuts, const CollectivePolicies& policies) :
        cuts_(std::move(cuts)), policies_(policies) {}

    [[nodiscard]] double collective(
        CollectiveKind kind, double bytes, const std::vector<std::uint32_t>& ranks) const override;
    [[nodiscard]] double port(CollectiveKind kind, double bytes, std::size_t ranks) const override;
    [[nodiscard]] double message(double bytes, std::uint32_t from, std::uint32_t to) const override;

private:
    /// Whether NCCL's kernels for this kind pass data from rank to rank along a ring.
    [[nodiscard]] bool runs_as_ring(CollectiveKind kind) const;

    std::shared_ptr<const MachineCuts> cuts_;
    CollectivePolicies policies_;
};

}  // namespace switchfold

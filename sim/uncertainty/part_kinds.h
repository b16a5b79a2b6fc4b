// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/uncertainty/step_parts.h"
#include "workloads/graph/execution_graph.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchfold {

struct CollectiveRecord;  // defined in models/collectives/engine.h, which needs SystemC

/// What the parts of steps on a system are like among what was measured. Sizes of collectives are
/// told apart by powers of two, times of kernels by powers of four.
class PartKinds {
public:
    explicit PartKinds(const SystemParams& system);

    [[nodiscard]] std::size_t of(const KernelOperation& kernel);
    /// `group`: of the record's ranks; any for a transfer between two.
    [[nodiscard]] std::size_t of(const CollectiveRecord& record, const Group* group);
    /// A collective that takes what a probe of it took.
    [[nodiscard]] std::size_t of(const CollectiveOperation& collective, const MeasuredAs& as);
    /// What contention takes from kernels in a step, or from a kernel in a loop: `operation` is
    /// "step" or empty.
    [[nodiscard]] std::size_t of_overlap(const std::string& operation, std::uint32_t ranks);
    /// A whole step. `operation`: "training" if it is generated, "replayed" if it was traced.
    [[nodiscard]] PartKind of_step(const std::string& operation, std::uint32_t ranks) const;

    /// With the collective's own size.
    [[nodiscard]] PartKind kind_of(const CollectiveRecord& record, const Group* group) const;
    [[nodiscard]] const std::vector<PartKind>& all() const { return kinds_; }

private:
    [[nodiscard]] std::size_t intern(const std::string& key, PartKind kind);
    [[nodiscard]] std::size_t intern_collective(PartKind kind);
    [[nodiscard]] intervals::Likeness here(const char* kind, std::uint32_t ranks) const;

    intervals::Likeness one_rank_;  ///< of no kind, on this machine
    std::string unlike_;            ///< why no such machine was measured; empty: some may have been
    std::uint32_t machine_gpus_;
    std::vector<PartKind> kinds_;
    std::map<std::string, std::size_t> known_;
};

}  // namespace switchfold

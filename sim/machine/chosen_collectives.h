// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/choice/policies.h"
#include "models/collectives/shortcuts/foldable.h"
#include "sim/config/experiment.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A collective and what becomes of it.
struct Chosen {
    CollectiveOperation collective;
    CollectiveConfig choice;
};

/// What becomes of the collectives of a group of a machine's ranks.
class Choices {
public:
    Choices(
        const SystemParams& system, const Topology& topology, std::vector<std::uint32_t> ranks,
        const CollectivePolicies& policies);
    [[nodiscard]] const GroupView& group() const { return group_; }
    [[nodiscard]] const CollectiveParams& params() const { return params_; }
    /// All by classic kernels; nothing where one runs otherwise, or cannot run as its policy says.
    [[nodiscard]] std::optional<std::vector<Chosen>>
    of(const std::vector<CollectiveOperation>& collectives) const;
    /// What runs in its place where its kind follows the all-reduces' policy and that cannot be
    /// met; nothing where it has a policy of its own that cannot.
    [[nodiscard]] std::optional<CollectiveConfig> able(const CollectiveOperation& collective) const;
    /// Loops of a choice in which each head has pieces of its own, or passes sums on to other
    /// machines.
    [[nodiscard]] std::uint64_t head_loops(const Chosen& chosen) const;

private:
    /// By this policy; nothing where that cannot be met.
    [[nodiscard]] std::optional<CollectiveConfig>
    of(const CollectiveOperation& collective, const CollectivePolicy& policy) const;

    const Topology& topology_;
    CollectivePolicies policies_;
    CollectiveParams params_;
    std::vector<std::uint32_t> ranks_;
    GroupView group_;
};

/// Whether all have this pattern.
[[nodiscard]] bool only(Pattern pattern, const std::vector<Chosen>& all);
[[nodiscard]] Bytes shortest_of(const std::vector<Chosen>& all);

}  // namespace switchfold

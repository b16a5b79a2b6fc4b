// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"
#include "models/collectives/experts/policy.h"

#include <optional>

namespace switchfold {

/// How a scenario's collectives run, by kind. A kind that is not named follows all-reduces as far
/// as it can: the same protocol and channels, and the switches where they do it.
struct CollectivePolicies {
    std::optional<CollectivePolicy> all_reduce;
    std::optional<CollectivePolicy> reduce_scatter;
    std::optional<CollectivePolicy> all_gather;
    std::optional<CollectivePolicy> broadcast;
    std::optional<CollectivePolicy> reduce;
    std::optional<CollectivePolicy> all_to_all;
    std::optional<CollectivePolicy> send_receive;
    std::optional<CollectivePolicy> gather;
    std::optional<CollectivePolicy> scatter;
    /// Most thread blocks of any communication kernel, 0 for no limit; a scenario says it beside
    /// its policies.
    std::uint32_t most_blocks = 0;
    ExpertsPolicy experts;

    bool operator==(const CollectivePolicies&) const = default;
    CollectivePolicies() = default;
    CollectivePolicies(const CollectivePolicy& all_reduces) :
        // NOLINT(google-explicit-constructor)
        all_reduce(all_reduces) {}

    [[nodiscard]] const std::optional<CollectivePolicy>& named(CollectiveKind kind) const;
    /// The named one, or that of all-reduces.
    [[nodiscard]] CollectivePolicy of(CollectiveKind kind) const {
        return named(kind).value_or(all_reduce.value_or(CollectivePolicy()));
    }

    static constexpr auto fields() {
        return std::tuple{
            field("all_reduce", &CollectivePolicies::all_reduce, "How all-reduces run."),
            field(
                "reduce_scatter", &CollectivePolicies::reduce_scatter, "How reduce-scatters run."),
            field("all_gather", &CollectivePolicies::all_gather, "How all-gathers run."),
            field("broadcast", &CollectivePolicies::broadcast, "How broadcasts run."),
            field("reduce", &CollectivePolicies::reduce, "How reduces run."),
            field("all_to_all", &CollectivePolicies::all_to_all, "How all-to-alls run."),
            field(
                "send_receive",
                &CollectivePolicies::send_receive,
                "How every rank sends to the next."),
            field("gather", &CollectivePolicies::gather, "How gathers run."),
            field("scatter", &CollectivePolicies::scatter, "How scatters run."),
            field(
                "experts",
                &CollectivePolicies::experts,
                "How dispatches and combines of mixture-of-experts layers run.")};
    }
    /// Which kinds know which algorithms and protocols.
    void check(ParamChecker& checker) const;
};

/// Whether kind, kernels, algorithm and protocol go together, whatever the machine; errors stand at
/// /KIND/....
void check_policy(CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"
#include "models/collectives/experts/policy.h"

#include <optional>

namespace switchfold {

/// A scenario's policies by kind of collective. A kind without its own policy follows that of
/// all-reduces as far as it can: same protocol and channels, and the switches if they support it.
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
    /// Limit on the thread blocks of any communication kernel, 0 for none; set by the scenario
    /// separately.
    std::uint32_t most_blocks = 0;
    ExpertsPolicy experts;

    bool operator==(const CollectivePolicies&) const = default;
    CollectivePolicies() = default;
    CollectivePolicies(const CollectivePolicy& all_reduces) :
        // NOLINT(google-explicit-constructor)
        all_reduce(all_reduces) {}

    [[nodiscard]] const std::optional<CollectivePolicy>& named(CollectiveKind kind) const;
    /// The kind's own policy, or that of all-reduces.
    [[nodiscard]] CollectivePolicy of(CollectiveKind kind) const {
        return named(kind).value_or(all_reduce.value_or(CollectivePolicy()));
    }

    static constexpr auto fields() {
        return list_of(
            field("all_reduce", &CollectivePolicies::all_reduce, "How all-reduces run."),
            field(
                "reduce_scatter", &CollectivePolicies::reduce_scatter, "How reduce-scatters run."),
            field("all_gather", &CollectivePolicies::all_gather, "How all-gathers run."),
            field("broadcast", &CollectivePolicies::broadcast, "How broadcasts run."),
            field("reduce", &CollectivePolicies::reduce, "How reduces run."),
            field("all_to_all", &CollectivePolicies::all_to_all, "How all-to-alls run."),
            field(
                "send_receive", &CollectivePolicies::send_receive,
                "How collectives in which every rank sends to the next run."),
            field("gather", &CollectivePolicies::gather, "How gathers run."),
            field("scatter", &CollectivePolicies::scatter, "How scatters run."),
            field(
                "experts", &CollectivePolicies::experts,
                "How dispatches and combines of mixture-of-experts layers run."));
    }
    /// Checks that each kind supports its algorithm and protocol.
    void check(ParamChecker& checker) const;
};

/// Checks that kind, kernels, algorithm and protocol can be combined, independent of the machine;
/// errors have pointers /KIND/....
void check_policy(CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/tuning.h"

#include <string>
#include <string_view>

namespace switchfold {

/// What several libraries say of fields that they do not read.
class PolicyChecks {
public:
    PolicyChecks(CollectiveKind kind, const CollectivePolicy& policy, ParamChecker& checker) :
        kind_(kind), policy_(policy), checker_(checker) {}

    /// At the field of the kind's policy.
    void error(std::string_view field, const std::string& what) const;
    /// Only a framework's copies have settings of copies.
    void expect_no_copies() const;
    /// Only NCCL's all-reduces, and what runs in_switch, have registered buffers.
    void expect_switches_where_registered() const;
    /// Only NCCL's in-switch reductions have modes.
    void expect_pull() const;
    /// Only NCCL's all-reduces through the switches of one domain have 8-bit sums.
    void expect_quantised_in_switch() const;
    /// `movers`: what takes no thread block.
    void expect_no_blocks(std::string_view movers) const;

private:
    CollectiveKind kind_;
    const CollectivePolicy& policy_;
    ParamChecker& checker_;
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_policy.h"

namespace switchfold {

namespace {

class NobodyLeaves final : public ReductionPolicy {
public:
    [[nodiscard]] std::uint32_t victim(
        const ReductionUnit& /*unit*/, TreeRole /*role*/,
        const Packet& /*waiting*/) const override {
        return ReductionUnit::kNone;
    }
};

class OldestLeaves final : public ReductionPolicy {
public:
    [[nodiscard]] std::uint32_t
    victim(const ReductionUnit& unit, TreeRole role, const Packet& /*waiting*/) const override {
        return unit.oldest(role);
    }
};

}  // namespace

std::shared_ptr<const ReductionPolicy> reduction_policy(const ReductionUnitParams& params) {
    return params.policy ? params.policy : reduction_policy(params.when_full);
}

std::shared_ptr<const ReductionPolicy> reduction_policy(WhenFull when_full) {
    if (when_full == WhenFull::kEvict)
        return std::make_shared<OldestLeaves>();
    return std::make_shared<NobodyLeaves>();
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_policy.h"

#include <vector>

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

/// A line leaves for others that share its entries, and never for a lower priority than its own; of
/// the lowest one, the line that was touched longest ago.
class TenantsTakeTurns final : public ReductionPolicy {
public:
    explicit TenantsTakeTurns(const ReductionUnitParams& params) :
        evicts_(params.when_full == WhenFull::kEvict) {
        for (const UnitTenant& tenant : *params.tenants)
            priorities_.push_back(tenant.priority);
        priorities_.push_back(0);  // of groups of no tenant
    }
    [[nodiscard]] std::uint32_t
    victim(const ReductionUnit& unit, TreeRole role, const Packet& waiting) const override {
        std::uint32_t found = ReductionUnit::kNone;
        if (!evicts_)
            return found;
        std::uint32_t least = precedence(unit, waiting) + 1;
        for (std::uint32_t line = unit.oldest(role); line != ReductionUnit::kNone;
             line = unit.line(line).newer) {
            const Packet& packet = unit.line(line).packet;
            const std::uint32_t priority = precedence(unit, packet);
            if (priority < least && unit.share_entries(packet.group, waiting.group)) {
                least = priority;
                found = line;
            }
        }
        return found;
    }
    [[nodiscard]] std::uint32_t
    precedence(const ReductionUnit& unit, const Packet& waiting) const override {
        return priorities_[unit.tenant_of_group(waiting.group)];
    }
    [[nodiscard]] bool orders() const override { return true; }

private:
    bool evicts_;
    std::vector<std::uint32_t> priorities_;
};

}  // namespace

std::shared_ptr<const ReductionPolicy> reduction_policy(const ReductionUnitParams& params) {
    if (params.policy)
        return params.policy;
    return params.tenants ? tenants_policy(params) : reduction_policy(params.when_full);
}

std::shared_ptr<const ReductionPolicy> tenants_policy(const ReductionUnitParams& params) {
    return std::make_shared<TenantsTakeTurns>(params);
}

std::shared_ptr<const ReductionPolicy> reduction_policy(WhenFull when_full) {
    if (when_full == WhenFull::kEvict)
        return std::make_shared<OldestLeaves>();
    return std::make_shared<NobodyLeaves>();
}

}  // namespace switchfold

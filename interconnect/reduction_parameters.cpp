// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold {

std::uint32_t tenant_of(std::span<const UnitTenant> tenants, std::span<const std::uint32_t> ranks) {
    const auto has_all = [&](const UnitTenant& tenant) {
        return std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) {
            return std::find(tenant.gpus.begin(), tenant.gpus.end(), rank) != tenant.gpus.end();
        });
    };
    return static_cast<std::uint32_t>(
        std::find_if(tenants.begin(), tenants.end(), has_all) - tenants.begin());
}

void ReductionUnitParams::check_tenants(ParamChecker& checker) const {
    if (!tenants)
        return;
    constexpr std::size_t kMost = 64;
    if (tenants->empty() || tenants->size() > kMost)
        checker.error("/tenants", fmt::format("are {}; expected 1 to {}", tenants->size(), kMost));
    if (when_full == WhenFull::kRefuse)
        checker.error(
            "/tenants", "are given beside when_full refuse, which sets a quota aside for each "
                        "group itself; expected stall or evict");
    std::uint64_t quotas = 0;
    std::set<std::uint32_t> seen;
    for (std::size_t i = 0; i < tenants->size(); ++i) {
        quotas += (*tenants)[i].entries;
        for (const std::uint32_t gpu : (*tenants)[i].gpus)
            if (!seen.insert(gpu).second)
                checker.error(
                    fmt::format("/tenants/{}/gpus", i),
                    fmt::format("has GPU {} again; expected each GPU with one tenant", gpu));
    }
    if (quotas > entries)
        checker.error(
            "/tenants", fmt::format(
                            "have quotas of {} entries together, and the table has {}; expected no "
                            "more than that",
                            quotas, entries));
}

std::string ReductionUnitParams::why_not(const OperandFormat& format) const {
    const Quantisation& narrow = format.quantised;
    if (!narrow.used())
        return {};
    if (std::find(formats.begin(), formats.end(), narrow.format) == formats.end())
        return fmt::format("adds no {}", enum_name(narrow.format));
    const bool at_port = narrow.at == QuantisedAt::kPort;
    const std::uint64_t block = narrow.block_bytes(at_port ? width_of(format.type) : 1);
    if (line.count() % block != 0)
        return fmt::format(
            "has lines of {} B, which are not whole blocks of {} elements, {} B there",
            line.count(), narrow.block, block);
    return {};
}

}  // namespace switchfold

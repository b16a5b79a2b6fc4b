// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <cstdint>
#include <span>
#include <vector>

namespace switchfold {

/// Who shares a table: the groups all of whose members are among these GPUs.
struct UnitTenant {
    std::vector<std::uint32_t> gpus;
    std::uint32_t entries = 0;
    std::uint32_t priority = 0;

    static constexpr auto fields() {
        using P = UnitTenant;
        return list_of(
            field("gpus", &P::gpus, "Ranks of its GPUs.", 0U, 1'000'000U).required(),
            field(
                "entries", &P::entries,
                "Its quota: lines that are kept for it alone, and with them their part of the "
                "buffer. 0: it shares what the quotas leave with all others that have none.",
                0U, 1U << 20U),
            field(
                "priority", &P::priority,
                "Of its requests that wait for entries, against those of others: higher ones "
                "first. "
                "With when_full evict, lines leave for the sake of no lower priority than their "
                "own.",
                0U, 1'000U));
    }
};

/// The first one that has all of these GPUs; as many as there are if none has.
[[nodiscard]] std::uint32_t
tenant_of(std::span<const UnitTenant> tenants, std::span<const std::uint32_t> ranks);

}  // namespace switchfold

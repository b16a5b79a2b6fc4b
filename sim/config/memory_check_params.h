// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// What becomes of a workload that needs more memory than its GPUs have.
enum class MemoryCheck : std::uint8_t { kCheck, kIgnore };

template <>
struct EnumNames<MemoryCheck> {
    static constexpr std::array<std::pair<MemoryCheck, std::string_view>, 2> kNames{
        {{MemoryCheck::kCheck, "check"}, {MemoryCheck::kIgnore, "ignore"}}};
};

}  // namespace switchfold

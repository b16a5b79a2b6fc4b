// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory_classes.h"
#include "core/record.h"

#include <cstddef>
#include <string_view>
#include <utility>

namespace switchfold {

/// Bytes of one class, a whole number in files.
struct MemoryClassMember {
    std::string_view key;
    MemoryClass which;
    Form form = Form::kWhole;
    bool in_json = true;
    bool left_out_if_empty = false;
    bool null_if_empty = false;
    [[nodiscard]] double& of(MemoryBytes& bytes) const { return bytes[which]; }
    [[nodiscard]] double of(const MemoryBytes& bytes) const { return bytes[which]; }
};

template <>
struct RecordFields<MemoryBytes> {
    static constexpr auto list() {
        return []<std::size_t... I>(std::index_sequence<I...>) {
            return list_of(MemoryClassMember{kMemoryClasses[I].name, kMemoryClasses[I].value}...);
        }
        (std::make_index_sequence<kMemoryClasses.size()>());
    }
};

}  // namespace switchfold

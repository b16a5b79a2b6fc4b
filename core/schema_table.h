// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <string>
#include <string_view>

namespace switchfold {

/// A Markdown table of a schema's parameters: keys as dotted paths, type, default and meaning. A
/// field that only one alternative of a choice has names that alternative. Each of its "$defs"
/// follows under a heading "KIND: NAME" with a table of its own.
[[nodiscard]] std::string schema_table(const OrderedJson& schema, std::string_view kind);

}  // namespace switchfold

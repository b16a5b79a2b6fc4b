// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"

#include <string>

namespace switchfold {

/// A page that draws `data` and needs nothing beside itself. `data` holds "kind" ("run" or "sweep")
/// and what sim/output/report/KIND.js reads. Throws ConfigError if the simulator was built without
/// the chart libraries.
[[nodiscard]] std::string html_report(const std::string& title, const OrderedJson& data);

}  // namespace switchfold

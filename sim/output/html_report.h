// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <string>

namespace switchfold {

/// A self-contained page that draws `data`, which holds "kind" ("run" or "sweep") and the input of
/// sim/output/report/KIND.js. Throws ConfigError if the simulator was built without the chart
/// libraries.
[[nodiscard]] std::string html_report(const std::string& title, const OrderedJson& data);

}  // namespace switchfold

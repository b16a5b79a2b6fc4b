// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/statistics.h"

#include <string>
#include <vector>

namespace switchfold {

class Machine;

/// What the machine's components measured in a run of length `end`, a table for each kind.
[[nodiscard]] std::vector<StatisticTable> collect_statistics(Machine& machine, Time end);

/// What result.json's statistics mean, as Markdown.
[[nodiscard]] std::string statistics_docs();

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "sim/energy/energy.h"

#include <string>
#include <vector>

namespace switchfold {

/// Energy of every scenario of a run.
struct RunEnergy {
    std::string experiment;
    std::string power;  ///< file of the numbers
    std::vector<StepEnergy> scenarios;
};

/// Power numbers, read from a file. Throws ConfigError.
[[nodiscard]] PowerParams load_power(const std::string& file);
/// A table, and what its numbers leave out.
[[nodiscard]] std::string energy_table(const RunEnergy& energy);
[[nodiscard]] OrderedJson energy_json(const RunEnergy& energy);

}  // namespace switchfold

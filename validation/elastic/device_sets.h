// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/elastic/elastic_row.h"
#include "validation/harness/suite.h"
#include "validation/machines/machines.h"

#include <vector>

namespace switchfold::validation {

/// Whether a row states the performance of a set of devices: steps a second, or an all-reduce.
[[nodiscard]] bool is_of_device_set(const ElasticRow& row);

/// Compares strong scaling and all-reduces over sets of devices, simulated if machine, network and
/// model are known. Adds cases and unmatched rows.
void compare_device_sets(
    const std::vector<ElasticRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result);

}  // namespace switchfold::validation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/collectives/collective_tables.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace switchfold::validation {

/// The measured times of one operation on a system.
struct MeasuredOperation {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::vector<std::uint32_t> near;  ///< rows within a factor of two of each size
    std::vector<std::string> tables;  ///< that these rows are of, in the order of the rows
};

/// For each kind of collective, how many rows were measured on all GPUs of the system of this name
/// near each of the sizes (bytes, ascending).
[[nodiscard]] std::vector<MeasuredOperation> measurements_near(
    const std::vector<MeasuredRow>& rows, const Machines& machines, const SystemParams& system,
    std::span<const std::uint64_t> sizes);

/// The same as text, from the tables of `validate collectives`. `measurements`: a folder of
/// measurements besides the repository's own, or empty.
[[nodiscard]] std::string describe_measurements(
    const SystemParams& system, const Machines& machines, const std::filesystem::path& root,
    const std::filesystem::path& measurements);

}  // namespace switchfold::validation

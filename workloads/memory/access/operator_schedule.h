// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/access_schedule.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace switchfold {

/// The schedule of a traced step, from its operators and their tensors as TrioSim's tables have
/// them (CSV, plain or compressed): a step an operator, an item a storage, however many tensors lie
/// in it. Times are those that were measured. What the optimizer opens (weights, their gradients,
/// moments) and what was there before the step always stays, except the step's input: operators of
/// the optimizer take all layers at once. Storages that one operator alone opens are scratch.
/// Operators: OperatorName, Operator_input, Operator_output (tensor ids,
/// "[4; 6]"), Operator_cudatime (us), stage (forward, backward, optimizer). Tensors:
/// TensorID, TensorNumElement, TensorEachByte, TensorStorgeid. Throws ConfigError "file: line N:
/// what; what was expected" with everything that is wrong, IoError if a file cannot be read.
[[nodiscard]] AccessSchedule read_operator_schedule(
    const std::filesystem::path& operators, const std::filesystem::path& tensors);
[[nodiscard]] AccessSchedule parse_operator_schedule(
    std::string_view operators, std::string_view tensors, const std::string& label);

}  // namespace switchfold

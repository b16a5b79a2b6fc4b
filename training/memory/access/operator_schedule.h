// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace switchfold {

/// The schedule of a traced step, from its operators and tensors in TrioSim's table format (CSV,
/// plain or compressed): one step per operator, one item per storage, however many tensors share
/// it. Times are the measured ones. Storages that the optimizer uses (weights, their gradients,
/// moments) and storages from before the step always stay, except the step's input, because
/// operators of the optimizer take all layers at once. Storages that a single operator uses are
/// scratch. Columns of operators: OperatorName, Operator_input, Operator_output (tensor ids, "[4;
/// 6]"), Operator_cudatime (us), stage (forward, backward, optimizer). Columns of tensors:
/// TensorID, TensorNumElement, TensorEachByte, TensorStorgeid. Throws ConfigError "file: line N:
/// what; what was expected" with all problems, IoError if a file cannot be read.
[[nodiscard]] TensorUses read_operator_schedule(
    const std::filesystem::path& operators, const std::filesystem::path& tensors);
[[nodiscard]] TensorUses parse_operator_schedule(
    std::string_view operators, std::string_view tensors, const std::string& label);

}  // namespace switchfold

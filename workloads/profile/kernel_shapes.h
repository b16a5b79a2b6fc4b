// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/kernel_traffic.h"

#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// Sizes of the product or attention that an operator computes, from its tensors (TensorShape); of
/// a convolution, those of the implicit product that the kernel's name tells. Nothing if the
/// operator is none of them, its tensors do not fit it, or no library computes with their type.
[[nodiscard]] std::optional<KernelShape> shape_of(
    std::string_view op, const std::vector<TensorShape>& inputs, std::string_view kernel,
    std::uint64_t stride = 1);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// One tensor that an operator takes.
struct TensorShape {
    std::vector<std::uint64_t> dimensions;
    std::uint64_t element_bytes = 4;
    [[nodiscard]] std::uint64_t elements() const;  ///< 0 for scalars and what is no tensor
    [[nodiscard]] double bytes() const;
};

/// Reads an operator's "Input Dims" and "Input type" (JSON arrays). Lists of tensors are laid out
/// flat; an argument that is no tensor is a shape without elements, so positions stay. Malformed
/// text gives an empty list.
[[nodiscard]] std::vector<TensorShape> parse_shapes(std::string_view dims, std::string_view types);

/// What the kernels of one class move between L2 and SMs, and compute, for one call of an operator.
struct Traffic {
    double read = 0;  ///< bytes
    double written = 0;
    double flops = 0;
};

/// From the operator's name ("aten::addmm") and tensors. `stride` is a convolution's, 1 if unknown.
/// Nothing if the operator is unknown, is not of the kernel's class, or its tensors do not fit it.
[[nodiscard]] std::optional<Traffic> traffic_of(
    std::string_view op,
    const std::vector<TensorShape>& inputs,
    KernelClass kernel_class,
    std::uint64_t stride = 1);

/// Stride of a convolution from its "Concrete Inputs" (JSON array of strings); 1 if not there.
[[nodiscard]] std::uint64_t parse_stride(std::string_view op, std::string_view concrete_inputs);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// One tensor argument of an operator.
struct TensorShape {
    std::vector<std::uint64_t> dimensions;
    std::uint64_t element_bytes = 4;
    [[nodiscard]] std::uint64_t elements() const;  ///< 0 for scalars and non-tensors
    [[nodiscard]] double bytes() const;
};

/// Parses an operator's "Input Dims" and "Input type" (JSON arrays). Lists of tensors are
/// flattened. A non-tensor argument becomes a shape without elements, so positions are kept.
/// Malformed text gives an empty list.
[[nodiscard]] std::vector<TensorShape> parse_shapes(std::string_view dims, std::string_view types);

/// Bytes that the kernels of one class move between L2 and SMs, and their FLOPs, for one call of an
/// operator.
struct Traffic {
    double read = 0;  ///< bytes
    double written = 0;
    double flops = 0;
};

/// Traffic by operator name ("aten::addmm") and tensors. `stride` is a convolution's, 1 if unknown.
/// Nothing if the operator is unknown, belongs to another class, or does not fit its tensors.
[[nodiscard]] std::optional<Traffic> traffic_of(
    std::string_view op, const std::vector<TensorShape>& inputs, KernelClass kernel_class,
    std::uint64_t stride = 1);

/// Stride of a convolution, from its "Concrete Inputs" (JSON array of strings); 1 if not stated.
[[nodiscard]] std::uint64_t parse_stride(std::string_view op, std::string_view concrete_inputs);

}  // namespace switchfold

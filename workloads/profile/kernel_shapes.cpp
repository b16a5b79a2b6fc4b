// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/kernel_shapes.h"

#include "core/text.h"
#include "workloads/kernels/layer_products.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace switchfold {

namespace {

using Shapes = std::vector<TensorShape>;

std::optional<Datatype> type_of(const TensorShape& tensor) {
    switch (tensor.element_bytes) {
    case 4:
        return Datatype::kFloat32;
    case 2:
        return Datatype::kBfloat16;
    case 1:
        return Datatype::kFloat8;
    default:
        return std::nullopt;
    }
}

/// The shape with these sides; nothing if one of them is 0 or too large.
template <std::size_t N>
std::optional<KernelShape>
with_sides(KernelShape shape, const std::array<std::uint64_t, N>& sides) {
    for (std::size_t i = 0; i < N; ++i) {
        if (sides[i] == 0 || sides[i] > std::numeric_limits<std::uint32_t>::max())
            return std::nullopt;
        shape.sides[i] = static_cast<std::uint32_t>(sides[i]);
    }
    return shape;
}

/// Kernels of cuBLAS, CUTLASS and cuDNN that round operands of 32 bits say so: tf32, or the
/// instruction (16 x 8 x 8).
bool rounds(std::string_view kernel) {
    return contains(kernel, "tf32") || contains(kernel, "s1688");
}

std::optional<KernelShape> product_shape(
    const TensorShape& tensor, std::uint64_t m, std::uint64_t n, std::uint64_t k,
    std::uint64_t count, std::string_view kernel) {
    const std::optional<Datatype> type = type_of(tensor);
    if (!type)
        return std::nullopt;
    KernelShape shape;
    shape.kind = ShapeKind::kProduct;
    shape.datatype = *type;
    shape.tf32 = *type == Datatype::kFloat32 && rounds(kernel);
    return with_sides<kSidesOfProduct>(shape, {m, n, k, count});
}

/// [batch..., m, k] x [batch..., k, n]. Batches that share one right factor are one product.
std::optional<KernelShape> product_of(
    const TensorShape& a, const TensorShape& b, bool b_is_transposed, std::string_view kernel) {
    if (a.dimensions.size() < 2 || b.dimensions.size() < 2 || a.elements() == 0 ||
        b.elements() == 0)
        return std::nullopt;
    const std::uint64_t k = a.dimensions.back();
    const std::size_t last = b.dimensions.size() - 1;
    const std::uint64_t n = b.dimensions[b_is_transposed ? last - 1 : last];
    if (b.dimensions[b_is_transposed ? last : last - 1] != k)
        return std::nullopt;
    const std::uint64_t count = b.elements() / (n * k);
    const std::uint64_t rows = a.elements() / k;
    return rows % count == 0 ? product_shape(a, rows / count, n, k, count, kernel) : std::nullopt;
}

std::optional<KernelShape>
matrix_shape(std::string_view op, const Shapes& in, std::string_view kernel) {
    if ((op == "aten::mm" || op == "aten::bmm" || op == "aten::matmul") && in.size() >= 2)
        return product_of(in[0], in[1], false, kernel);
    if ((op == "aten::addmm" || op == "aten::addmm_" || op == "aten::baddbmm" ||
         op == "aten::_addmm_activation") &&
        in.size() >= 3)
        return product_of(in[1], in[2], false, kernel);
    if (op == "aten::linear" && in.size() >= 2)
        return product_of(in[0], in[1], true, kernel);
    return std::nullopt;
}

std::optional<KernelShape> convolution_shape(
    std::string_view op, const Shapes& in, std::string_view kernel, std::uint64_t stride) {
    if (!contains(op, "conv"))
        return std::nullopt;
    // (input, weight, ...), or (gradient of the result, input, weight, ...).
    const std::size_t first = contains(op, "backward") ? 1 : 0;
    if (in.size() < first + 2)
        return std::nullopt;
    const TensorShape& x = in[first];
    const TensorShape& w = in[first + 1];
    constexpr std::size_t kPlane = 4;  // batch, channels, height, width
    if (x.dimensions.size() != kPlane || w.dimensions.size() != kPlane || x.elements() == 0 ||
        w.elements() == 0 || x.dimensions[1] % w.dimensions[1] != 0 ||
        contains(lower(kernel), "winograd"))
        return std::nullopt;
    ConvolutionShape layer;
    layer.batch = x.dimensions[0];
    layer.in_channels = x.dimensions[1];
    layer.out_channels = w.dimensions[0];
    layer.in_height = x.dimensions[2];
    layer.in_width = x.dimensions[3];
    layer.kernel_height = w.dimensions[2];
    layer.kernel_width = w.dimensions[3];
    layer.groups = x.dimensions[1] / w.dimensions[1];
    layer.out_height = (layer.in_height + stride - 1) / stride;
    layer.out_width = (layer.in_width + stride - 1) / stride;
    if (layer.out_channels % layer.groups != 0)
        return std::nullopt;
    LayerPass pass = LayerPass::kForward;
    if (first != 0)
        pass = contains(kernel, "wgrad") ? LayerPass::kWeightGradient : LayerPass::kInputGradient;
    const std::optional<Datatype> type = type_of(x);
    if (!type)
        return std::nullopt;
    const MatrixProduct p = product(layer, pass, *type);
    return product_shape(x, p.m, p.n, p.k, p.count, kernel);
}

std::optional<KernelShape> attention_shape(std::string_view op, const Shapes& in) {
    if (!contains(op, "attention") && !contains(lower(op), "flash_attn") &&
        !contains(op, "FlashAttn"))
        return std::nullopt;
    const bool backward = contains(lower(op), "backward");
    const std::size_t first = backward ? 1 : 0;  // behind the gradient of the result
    constexpr std::size_t kRank = 4;
    if (in.size() < first + 3 || in[first].dimensions.size() != kRank ||
        in[first + 1].dimensions.size() != kRank || in[first].elements() == 0 ||
        in[first + 1].elements() == 0)
        return std::nullopt;
    // PyTorch's operators on scaled products take heads before tokens, its kernels behind them.
    const bool heads_first = contains(op, "scaled_dot_product");
    const auto& q = in[first].dimensions;
    const auto& k = in[first + 1].dimensions;
    const std::size_t heads = heads_first ? 1 : 2;
    const std::size_t tokens = heads_first ? 2 : 1;
    const std::optional<Datatype> type = type_of(in[first]);
    if (!type || q[heads] % k[heads] != 0)
        return std::nullopt;
    KernelShape shape;
    shape.kind = ShapeKind::kAttention;
    shape.datatype = *type;
    shape.backward = backward;
    shape.newest = contains(op, "cudnn");
    return with_sides<kSidesOfAttention>(
        shape, {q[0], q[tokens], k[tokens], q[heads], k[heads], q[3]});
}

}  // namespace

std::optional<KernelShape>
shape_of(std::string_view op, const Shapes& inputs, std::string_view kernel, std::uint64_t stride) {
    if (auto shape = matrix_shape(op, inputs, kernel))
        return shape;
    if (auto shape = convolution_shape(op, inputs, kernel, std::max<std::uint64_t>(1, stride)))
        return shape;
    return attention_shape(op, inputs);
}

}  // namespace switchfold

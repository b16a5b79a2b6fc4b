// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/kernel_traffic.h"

#include "core/text.h"
#include "workloads/profile/classify.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace switchfold {

namespace {

using Json = nlohmann::json;
using Shapes = std::vector<TensorShape>;

bool is_shape(const Json& dims) {
    return std::all_of(
        dims.begin(), dims.end(), [](const Json& d) { return d.is_number_unsigned(); });
}

/// Adds lists of tensors, but no deeper nesting: malformed input may nest a million levels.
void add_shapes(const Json& dims, std::uint64_t element_bytes, Shapes& shapes, int depth = 0) {
    constexpr int kDeepest = 16;
    if (depth < kDeepest && dims.is_array() && !is_shape(dims)) {
        for (const Json& inner : dims)
            add_shapes(inner, element_bytes, shapes, depth + 1);
        return;
    }
    TensorShape shape;
    shape.element_bytes = element_bytes;
    if (dims.is_array() && is_shape(dims))
        for (const Json& d : dims)
            shape.dimensions.push_back(d.get<std::uint64_t>());
    shapes.push_back(std::move(shape));
}

template <std::size_t N>
bool one_of(std::string_view op, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), op) != names.end();
}

double as_double(std::uint64_t v) {
    return static_cast<double>(v);
}

double sum_bytes(const Shapes& inputs) {
    double sum = 0;
    for (const TensorShape& shape : inputs)
        sum += shape.bytes();
    return sum;
}

double largest_bytes(const Shapes& inputs) {
    double largest = 0;
    for (const TensorShape& shape : inputs)
        largest = std::max(largest, shape.bytes());
    return largest;
}

/// Traffic of the product [batch..., m, k] x [batch..., k, n].
std::optional<Traffic>
product_of(const TensorShape& a, const TensorShape& b, bool b_is_transposed) {
    if (a.dimensions.size() < 2 || b.dimensions.size() < 2 || a.elements() == 0 ||
        b.elements() == 0)
        return std::nullopt;
    const std::uint64_t k = a.dimensions.back();
    const std::size_t last = b.dimensions.size() - 1;
    const std::uint64_t n = b.dimensions[b_is_transposed ? last - 1 : last];
    if (b.dimensions[b_is_transposed ? last : last - 1] != k)
        return std::nullopt;
    const double rows = as_double(a.elements()) / as_double(k);
    const double out = rows * as_double(n);
    return Traffic{a.bytes() + b.bytes(), out * as_double(a.element_bytes), 2 * out * as_double(k)};
}

std::optional<Traffic> matrix_traffic(std::string_view op, const Shapes& in) {
    constexpr std::array<std::string_view, 3> kPlain{"aten::mm", "aten::bmm", "aten::matmul"};
    constexpr std::array<std::string_view, 4> kWithBias{
        "aten::addmm", "aten::addmm_", "aten::baddbmm", "aten::_addmm_activation"};
    if (one_of(op, kPlain) && in.size() >= 2)
        return product_of(in[0], in[1], false);
    if (one_of(op, kWithBias) && in.size() >= 3) {
        std::optional<Traffic> traffic = product_of(in[1], in[2], false);
        if (traffic)
            traffic->read += in[0].bytes();
        return traffic;
    }
    if (op == "aten::linear" && in.size() >= 2)
        return product_of(in[0], in[1], true);
    return std::nullopt;
}

std::optional<Traffic>
convolution_traffic(std::string_view op, const Shapes& in, std::uint64_t stride) {
    constexpr std::array<std::string_view, 8> kForward{
        "aten::cudnn_convolution",
        "aten::cudnn_convolution_relu",
        "aten::miopen_convolution",
        "aten::convolution",
        "aten::_convolution",
        "aten::conv1d",
        "aten::conv2d",
        "aten::conv3d"};
    const auto spatial = [](const TensorShape& shape, std::size_t from) {
        double product_of = 1;
        for (std::size_t i = from; i < shape.dimensions.size(); ++i)
            product_of *= as_double(shape.dimensions[i]);
        return product_of;
    };
    const auto fits = [](const TensorShape& shape) {
        return shape.dimensions.size() >= 3 && shape.elements() > 0;
    };
    if (one_of(op, kForward) && in.size() >= 2 && fits(in[0]) && fits(in[1])) {
        double out = as_double(in[0].dimensions[0] * in[1].dimensions[0]) * spatial(in[0], 2);
        for (std::size_t i = 2; i < in[0].dimensions.size(); ++i)
            out /= as_double(std::max<std::uint64_t>(1, stride));
        return Traffic{
            in[0].bytes() + in[1].bytes(), out * as_double(in[0].element_bytes),
            2 * out * spatial(in[1], 1)};
    }
    // Older names, with one operator per gradient; the shape of the result is not among their
    // tensors.
    if (op == "aten::cudnn_convolution_backward_input" && in.size() >= 3 && fits(in[1]) &&
        fits(in[2])) {
        const double out = as_double(in[1].dimensions[0] * in[2].dimensions[1]) * spatial(in[1], 2);
        return Traffic{
            in[1].bytes() + in[2].bytes(), out * as_double(in[1].element_bytes),
            2 * as_double(in[1].elements()) * spatial(in[2], 1)};
    }
    if (op == "aten::cudnn_convolution_backward_weight" && in.size() >= 3 && fits(in[1]) &&
        fits(in[2]))
        return Traffic{in[1].bytes() + in[2].bytes(), 0, 0};
    if (op == "aten::convolution_backward" && in.size() >= 3 && fits(in[0]) && fits(in[1]) &&
        fits(in[2])) {
        // Gradients of input and weight: each combines the output's gradient with the other tensor.
        const double flops = 2 * as_double(in[0].elements()) * spatial(in[2], 1);
        return Traffic{
            2 * in[0].bytes() + in[1].bytes() + in[2].bytes(), in[1].bytes() + in[2].bytes(),
            2 * flops};
    }
    return std::nullopt;
}

std::optional<Traffic> norm_traffic(std::string_view op, const Shapes& in) {
    if (!contains(op, "norm") || in.empty() || largest_bytes(in) == 0)
        return std::nullopt;
    const double x = largest_bytes(in);
    // One pass for the statistics, one to normalise; backward also reads the gradient in both.
    const double reads = contains(op, "backward") ? 4 : 2;
    return Traffic{reads * x, x, 5 * reads * x / as_double(in[0].element_bytes)};
}

/// Operators that read every input once and write as many bytes as the largest input.
std::optional<Traffic> pointwise_traffic(std::string_view op, const Shapes& in) {
    constexpr std::array<std::string_view, 2> kFill{"aten::fill_", "aten::zero_"};
    const double largest = largest_bytes(in);
    if (largest == 0)
        return std::nullopt;
    if (one_of(op, kFill))
        return Traffic{0, largest, 0};
    if (op == "aten::copy_" && in.size() >= 2)
        return Traffic{in[1].elements() > 0 ? in[1].bytes() : in[0].bytes(), in[0].bytes(), 0};
    if (contains(op, "pool"))  // windows of at least 2 x 2
        return contains(op, "backward") ? Traffic{sum_bytes(in), largest, 0}
                                        : Traffic{largest, largest / 4, 0};
    return Traffic{sum_bytes(in), largest, largest / as_double(in[0].element_bytes)};
}

}  // namespace

std::uint64_t TensorShape::elements() const {
    if (dimensions.empty())
        return 0;
    constexpr std::uint64_t kMost = 1ULL << 48U;  // far above any tensor of a real GPU
    std::uint64_t product_of = 1;
    for (const std::uint64_t d : dimensions) {
        if (d == 0 || product_of > kMost / d)
            return 0;
        product_of *= d;
    }
    return product_of;
}

double TensorShape::bytes() const {
    return as_double(elements()) * as_double(element_bytes);
}

std::vector<TensorShape> parse_shapes(std::string_view dims, std::string_view types) {
    Shapes shapes;
    const Json parsed = Json::parse(dims, nullptr, false);
    if (!parsed.is_array())
        return shapes;
    const Json parsed_types = Json::parse(types, nullptr, false);
    std::optional<std::uint64_t>
        common;  // lists of tensors have no type of their own: they get the first tensor's
    std::vector<std::uint64_t> widths(parsed.size(), 0);
    if (parsed_types.is_array())
        for (std::size_t i = 0; i < std::min(parsed.size(), parsed_types.size()); ++i)
            if (parsed_types[i].is_string())
                if (const auto type = element_width(parsed_types[i].get<std::string>())) {
                    widths[i] = type->bytes(1).count();
                    if (!common && !parsed[i].empty())
                        common = widths[i];
                }
    for (std::size_t i = 0; i < parsed.size(); ++i)
        add_shapes(parsed[i], widths[i] == 0 ? common.value_or(4) : widths[i], shapes);
    return shapes;
}

std::optional<Traffic> traffic_of(
    std::string_view op, const Shapes& inputs, KernelClass kernel_class, std::uint64_t stride) {
    switch (kernel_class) {
    case KernelClass::kGemmConv:
        if (const auto traffic = matrix_traffic(op, inputs))
            return traffic;
        return convolution_traffic(op, inputs, stride);
    case KernelClass::kNorm:
        return norm_traffic(op, inputs);
    case KernelClass::kElementwise:
    case KernelClass::kCopyLayout:
    case KernelClass::kOptimizer:
        return pointwise_traffic(op, inputs);
    case KernelClass::kReduction: {
        const double all = sum_bytes(inputs);
        if (all == 0)
            return std::nullopt;
        if (contains(op, "softmax"))
            return Traffic{2 * all, largest_bytes(inputs), 0};
        return Traffic{all, 0, 0};
    }
    case KernelClass::kEmbeddingGather: {
        if (op != "aten::embedding" && op != "aten::index_select")
            return std::nullopt;
        const std::size_t indices = op == "aten::embedding" ? 1 : 2;
        if (inputs.size() <= indices || inputs[0].dimensions.size() != 2)
            return std::nullopt;
        const double rows = as_double(inputs[indices].elements()) *
                            as_double(inputs[0].dimensions[1] * inputs[0].element_bytes);
        return Traffic{rows + inputs[indices].bytes(), rows, 0};
    }
    case KernelClass::kAttention:
    case KernelClass::kOther:
        break;
    }
    return std::nullopt;
}

std::uint64_t parse_stride(std::string_view op, std::string_view concrete_inputs) {
    // miopen_convolution(input, weight, bias, padding, stride); in the others the stride comes one
    // argument earlier.
    const std::size_t position = contains(op, "miopen") ? 4 : 3;
    const Json parsed = Json::parse(concrete_inputs, nullptr, false);
    if (!parsed.is_array() || parsed.size() <= position || !parsed[position].is_string())
        return 1;
    const Json strides = Json::parse(parsed[position].get<std::string>(), nullptr, false);
    if (!strides.is_array() || strides.empty() || !strides[0].is_number_unsigned())
        return 1;
    return std::clamp<std::uint64_t>(strides[0].get<std::uint64_t>(), 1, 64);
}

}  // namespace switchfold

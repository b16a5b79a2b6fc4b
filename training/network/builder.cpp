// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"

#include "core/error.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

std::uint64_t sum_of_elements(const std::vector<Tensor>& tensors) {
    std::uint64_t sum = 0;
    for (const Tensor& tensor : tensors)
        sum += tensor.elements();
    return sum;
}

std::uint64_t sum_of_widths(const std::vector<Tensor>& tensors) {
    std::uint64_t sum = 0;
    for (const Tensor& tensor : tensors)
        sum += tensor.width();
    return sum;
}

std::uint64_t
slide(std::uint64_t in, std::uint64_t window, std::uint64_t stride, std::uint64_t padding) {
    SWITCHFOLD_CHECK(in + 2 * padding >= window, "a window of {} on {}", window, in);
    return (in + 2 * padding - window) / stride + 1;
}

std::vector<std::uint64_t> slide(const Tensor& in, std::uint64_t channels, const Window& window) {
    SWITCHFOLD_CHECK(in.shape.size() == 3, "a window on what is no image");
    return {
        channels, slide(in.shape[1], window.height, window.stride, window.pad_height),
        slide(in.shape[2], window.width, window.stride, window.pad_width)};
}

}  // namespace

std::uint64_t Tensor::elements() const {
    return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

NetworkBuilder::NetworkBuilder(std::string name, std::uint64_t tokens) {
    network_.name = std::move(name);
    network_.tokens = tokens;
}

Tensor NetworkBuilder::layer(
    Layer layer, const std::vector<Tensor>& in, std::vector<std::uint64_t> out_shape) {
    Tensor out{std::move(out_shape), static_cast<std::uint32_t>(network_.layers.size())};
    layer.out_elements = out.elements();
    layer.out_shape = out.shape;
    layer.in_elements = sum_of_elements(in);
    layer.block = block_;
    for (const Tensor& tensor : in)
        if (tensor.layer)
            layer.inputs.push_back(*tensor.layer);
    network_.layers.push_back(std::move(layer));
    return out;
}

Tensor NetworkBuilder::conv(
    Name name, const Tensor& in, std::uint64_t channels, const Window& window, bool bias,
    std::uint32_t groups) {
    Layer layer{std::move(name), "conv"};
    const Tensor out{slide(in, channels, window)};
    const std::uint64_t column = in.channels() / groups * window.height * window.width;
    layer.parameters = channels * (column + (bias ? 1 : 0));
    layer.macs = out.elements() * column;
    layer.groups = groups;
    return this->layer(std::move(layer), {in}, out.shape);
}

Tensor
NetworkBuilder::up_conv(Name name, const Tensor& in, std::uint64_t channels, std::uint64_t side) {
    Layer layer{std::move(name), "conv"};
    const Tensor out{{channels, in.shape[1] * side, in.shape[2] * side}};
    layer.parameters = in.channels() * channels * side * side + channels;
    layer.macs = out.elements() * in.channels();  // one window covers each output pixel
    return this->layer(std::move(layer), {in}, out.shape);
}

Tensor
NetworkBuilder::pool(Name name, std::string_view type, const Tensor& in, const Window& window) {
    return layer({std::move(name), std::string(type)}, {in}, slide(in, in.channels(), window));
}

Tensor NetworkBuilder::mean_of_image(Name name, const Tensor& in) {
    return layer({std::move(name), "avgpool"}, {in}, {in.channels(), 1, 1});
}

Tensor NetworkBuilder::batchnorm(Name name, const Tensor& in) {
    return layer({std::move(name), "batchnorm", 2 * in.channels()}, {in}, in.shape);
}

Tensor
NetworkBuilder::linear(Name name, const Tensor& in, std::uint64_t width, const Weights& weights) {
    Layer layer{std::move(name), "linear"};
    std::vector<std::uint64_t> out{width};
    std::uint64_t from = in.elements();
    if (in.shape.size() == 2) {
        from = in.width();
        out = {in.shape[0], width};
    }
    layer.parameters = (weights.shares ? 0 : from * width) + (weights.bias ? width : 0);
    layer.macs = in.elements() * width;
    layer.split = weights.split;
    if (weights.shares)
        layer.shares = weights.shares->layer;
    return this->layer(std::move(layer), {in}, std::move(out));
}

Tensor NetworkBuilder::lstm(
    Name name, const std::vector<Tensor>& in, std::uint64_t width, std::uint64_t biases) {
    Layer layer{std::move(name), "lstm"};
    const std::uint64_t tokens = in.front().shape.front();
    const std::uint64_t gates = 4 * width;
    const std::uint64_t column = sum_of_widths(in) + width;
    layer.parameters = gates * (column + biases);
    layer.macs = tokens * gates * column;
    return this->layer(std::move(layer), in, {tokens, width});
}

Tensor NetworkBuilder::embedding(
    Name name, const Tensor& words, std::uint64_t vocabulary, std::uint64_t width,
    const Weights& weights) {
    Layer layer{std::move(name), "embedding"};
    layer.parameters = weights.shares ? 0 : vocabulary * width;
    layer.split = weights.split;
    if (weights.shares)
        layer.shares = weights.shares->layer;
    return this->layer(std::move(layer), {words}, {words.elements(), width});
}

Tensor NetworkBuilder::layernorm(Name name, const Tensor& in) {
    return layer({std::move(name), "layernorm", 2 * in.width()}, {in}, in.shape);
}

Tensor NetworkBuilder::rmsnorm(Name name, const Tensor& in) {
    return layer({std::move(name), "rmsnorm", in.width()}, {in}, in.shape);
}

Tensor NetworkBuilder::attention(
    Name name, const std::vector<Tensor>& in, std::uint64_t width, const Heads& heads) {
    Layer layer{std::move(name), "attention"};
    const std::uint64_t queries = in.front().shape[0];
    const std::uint64_t keys = in.back().shape[0];
    const std::uint64_t scored = heads.score_width == 0 ? width : heads.count * heads.score_width;
    // Twice the pairs of a query and a key: of a causal window w, w^2 / 2 in its first rows and w
    // in each of the others.
    const std::uint64_t seen =
        heads.window == 0 ? keys : std::min<std::uint64_t>(heads.window, keys);
    const std::uint64_t pairs = heads.causal ? seen * (2 * queries - seen) : 2 * queries * keys;
    layer.macs = pairs * (scored + width) / 2;
    layer.split = TensorSplit::kHeads;
    layer.heads = heads.count;
    layer.kv_heads = heads.kv_count;
    layer.score_width = static_cast<std::uint32_t>(heads.score_width);
    layer.window = static_cast<std::uint32_t>(seen < keys ? seen : 0);
    layer.parameters = heads.sinks ? heads.count : 0;
    return this->layer(std::move(layer), in, {queries, width});
}

Tensor NetworkBuilder::each(Name name, std::string_view type, const Tensor& in, TensorSplit split) {
    return each_of(std::move(name), type, {in}, split);
}

Tensor NetworkBuilder::each_of(
    Name name, std::string_view type, const std::vector<Tensor>& in, TensorSplit split) {
    Layer layer{std::move(name), std::string(type)};
    layer.split = split;
    return this->layer(std::move(layer), in, in.front().shape);
}

Tensor NetworkBuilder::concat(Name name, const std::vector<Tensor>& in) {
    std::vector<std::uint64_t> shape = in.front().shape;
    shape.front() = 0;
    for (const Tensor& tensor : in)
        shape.front() += tensor.channels();
    return layer({std::move(name), "concat"}, in, std::move(shape));
}

Tensor NetworkBuilder::loss(
    Name name, std::string_view type, const std::vector<Tensor>& in, TensorSplit split) {
    return each_of(std::move(name), type, in, split);
}

Network NetworkBuilder::take() {
    check(network_);
    return std::move(network_);
}

}  // namespace switchfold

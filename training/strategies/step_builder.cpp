// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/step_builder.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace switchfold {

namespace {

constexpr std::uint32_t kCompute = 0;
constexpr std::uint32_t kCommunication = 1;
constexpr double kLaunchSeconds = 3e-6;  // duration of the shortest kernels in real traces
constexpr std::uint64_t kTile = 128 * 128;
/// Flash attention recomputes the scores in the backward pass: five products instead of two.
constexpr double kAttentionBack = 2.5;

bool is_matrix(const Layer& layer) {
    return layer.type == "conv" || layer.type == "linear" || layer.type == "lstm";
}
bool is_attention(const Layer& layer) {
    return layer.type == "attention";
}

}  // namespace

StepBuilder::StepBuilder(const std::vector<Layer>& layers, const TrainingOptions& options) :
    layers_(layers), options_(options) {
    SWITCHFOLD_CHECK(
        options.flops > 0 && options.bytes > 0 && !layers.empty(), "a step of nothing");
    rank_->streams = {{StreamKind::kGpu, "compute", 0}, {StreamKind::kGpu, "nccl", 0}};
}

ExecutionGraph StepBuilder::take() {
    ExecutionGraph graph;
    graph.names = names_.take();
    Group world{"world", std::vector<std::uint32_t>(options_.ranks)};
    std::iota(world.ranks.begin(), world.ranks.end(), 0U);
    graph.groups = {world};
    graph.ranks.assign(options_.ranks, rank_);
    graph.provenance.source = options_.name;
    graph.provenance.synthetic = true;
    graph.provenance.world_size = options_.ranks;
    return graph;
}

/// Bytes of activations that a layer reads; the first layer's input is assumed to be as large as
/// its output.
double StepBuilder::in_bytes(std::size_t layer) const {
    return activations(layers_[layer == 0 ? 0 : layer - 1]);
}
double StepBuilder::activations(const Layer& layer) const {
    return static_cast<double>(layer.out_elements) * options_.batch * options_.activation_bytes;
}
double StepBuilder::weights(const Layer& layer) const {
    return static_cast<double>(layer.parameters) * options_.activation_bytes;
}

void StepBuilder::forward(std::size_t i) {
    const Layer& layer = layers_[i];
    const double out = activations(layer);
    if (is_attention(layer))
        attention(layer, Phase::kForward, 1, in_bytes(i), out);
    else if (is_matrix(layer))
        matrix(layer, "forward", Phase::kForward, in_bytes(i) + weights(layer), out);
    else
        stream(layer, "forward", Phase::kForward, in_bytes(i), out);
}

void StepBuilder::backward(std::size_t i) {
    const Layer& layer = layers_[i];
    const double out = activations(layer);
    if (is_attention(layer)) {
        attention(layer, Phase::kBackward, kAttentionBack, 2 * out + in_bytes(i), in_bytes(i));
    } else if (is_matrix(layer)) {
        matrix(layer, "input gradient", Phase::kBackward, out + weights(layer), in_bytes(i));
        matrix(layer, "weight gradient", Phase::kBackward, out + in_bytes(i), weights(layer));
    } else {
        stream(layer, "backward", Phase::kBackward, out + in_bytes(i), in_bytes(i));
    }
}

void StepBuilder::copy(std::string_view what, Phase phase, double bytes) {
    stream(Layer{std::string(what), "copy", 0, 0, 0}, "copy", phase, bytes, bytes);
}

void StepBuilder::optimizer(double parameters) {
    constexpr double kBytesEach = 4;  // of parameters, gradients and momentum
    stream(
        Layer{"optimizer", "optimizer", 0, 0, 0}, "step", Phase::kOptimizer,
        3 * kBytesEach * parameters, 2 * kBytesEach * parameters);
}

void StepBuilder::attention(
    const Layer& layer, Phase phase, double work, double read, double written) {
    KernelOperation kernel;
    kernel.kernel_class = KernelClass::kAttention;
    kernel.flops = 2.0 * static_cast<double>(layer.macs) * options_.batch * work;
    // A block handles 128 rows of one head of width 128.
    const auto elements = static_cast<std::uint64_t>(layer.out_elements) * options_.batch;
    kernel.grid.x = static_cast<std::uint32_t>(std::max<std::uint64_t>(elements / kTile, 1));
    kernel.block.x = 128;
    kernel.registers_per_thread = 255;
    kernel.shared_memory = kibibytes(80);
    add(layer, phase == Phase::kForward ? "forward" : "backward", phase, kernel, read, written);
}

void StepBuilder::matrix(
    const Layer& layer, const char* what, Phase phase, double read, double written) {
    KernelOperation kernel;
    kernel.kernel_class = KernelClass::kGemmConv;
    kernel.flops = 2.0 * static_cast<double>(layer.macs) * options_.batch;
    const auto elements = static_cast<std::uint64_t>(written / options_.activation_bytes);
    // Products with few tiles are split along the reduction dimension until they fill the GPU.
    const std::uint64_t tiles =
        std::max<std::uint64_t>((elements + kTile - 1) / kTile, options_.sms);
    kernel.grid.x = static_cast<std::uint32_t>(tiles);
    kernel.block.x = 256;
    kernel.registers_per_thread = 200;
    kernel.shared_memory = kibibytes(96);
    add(layer, what, phase, kernel, read, written);
}

void StepBuilder::stream(
    const Layer& layer, std::string_view what, Phase phase, double read, double written) {
    KernelOperation kernel;
    kernel.kernel_class = layer.type.find("norm") != std::string::npos ? KernelClass::kNorm
                                                                       : KernelClass::kElementwise;
    constexpr double kBytesABlock = 128 * 16;
    kernel.grid.x =
        static_cast<std::uint32_t>(std::clamp((read + written) / kBytesABlock, 1.0, 4e9));
    kernel.block.x = 128;
    kernel.registers_per_thread = 32;
    add(layer, what, phase, kernel, read, written);
}

void StepBuilder::add(
    const Layer& layer, std::string_view what, Phase phase, KernelOperation kernel, double read,
    double written) {
    kernel.bytes_read = Bytes(static_cast<std::uint64_t>(read));
    kernel.bytes_written = Bytes(static_cast<std::uint64_t>(written));
    kernel.byte_source = ByteSource::kShapes;
    kernel.l2_share = 0;
    kernel.duration_source = DurationSource::kModel;
    const double seconds =
        std::max(kernel.flops / options_.flops, (read + written) / options_.bytes) + kLaunchSeconds;
    kernel.isolated = Time(static_cast<std::uint64_t>(seconds * 1e12));
    Operation operation;
    operation.name = names_.intern(fmt::format("{} {}", layer.name, what));
    operation.stream = kCompute;
    operation.phase = phase;
    operation.dependencies = std::exchange(waits_, {});
    operation.body = kernel;
    last_kernel_ = static_cast<Index>(rank_->operations.size());
    rank_->operations.push_back(std::move(operation));
}

StepBuilder::Index StepBuilder::communicate(
    std::string_view name, CollectiveKind kind, Bytes bytes, Datatype datatype, Phase phase,
    std::vector<Index> dependencies) {
    CollectiveOperation collective;
    collective.kind = kind;
    // Rounds up to whole grains in every rank's part.
    const std::uint64_t grain = std::uint64_t{16} * options_.ranks;
    collective.bytes = Bytes((bytes.count() + grain - 1) / grain * grain);
    collective.datatype = datatype;
    collective.sequence = collectives_++;
    collective.size_source = SizeSource::kUser;
    Operation operation;
    operation.name = names_.intern(name);
    operation.stream = kCommunication;
    operation.phase = phase;
    operation.dependencies = std::move(dependencies);
    operation.body = collective;
    rank_->operations.push_back(std::move(operation));
    return static_cast<Index>(rank_->operations.size() - 1);
}

}  // namespace switchfold

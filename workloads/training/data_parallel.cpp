// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/data_parallel.h"

#include "sim/core/error.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

namespace {

constexpr std::uint32_t kCompute = 0;
constexpr std::uint32_t kCommunication = 1;
constexpr double kLaunchSeconds = 3e-6;  // shortest kernels of real traces
constexpr std::uint64_t kTile = 128 * 128;

bool is_matrix(const Layer& layer) {
    return layer.type == "conv" || layer.type == "linear" || layer.type == "lstm";
}

class Builder {
public:
    Builder(const std::vector<Layer>& layers, const DataParallelOptions& options) :
        layers_(layers), options_(options) {
        SWITCHFOLD_CHECK(
            options.flops > 0 && options.bytes > 0 && !layers.empty(), "a step of nothing");
        rank_->streams = {{StreamKind::kGpu, "compute", 0}, {StreamKind::kGpu, "nccl", 0}};
    }

    ExecutionGraph build() {
        for (std::size_t i = 0; i < layers_.size(); ++i)
            forward(i);
        for (std::size_t i = layers_.size(); i-- > 0;)
            backward(i);
        flush();
        optimizer();
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

private:
    /// Activations that flow into a layer; the first one's input is taken to be as large as its
    /// output.
    [[nodiscard]] double in_bytes(std::size_t i) const {
        return activations(layers_[i == 0 ? 0 : i - 1]);
    }
    [[nodiscard]] double activations(const Layer& layer) const {
        return static_cast<double>(layer.out_elements) * options_.batch * options_.activation_bytes;
    }
    [[nodiscard]] double weights(const Layer& layer) const {
        return static_cast<double>(layer.parameters) * options_.activation_bytes;
    }

    void forward(std::size_t i) {
        const Layer& layer = layers_[i];
        const double out = activations(layer);
        if (is_matrix(layer))
            matrix(layer, "forward", Phase::kForward, in_bytes(i) + weights(layer), out);
        else
            stream(layer, "forward", Phase::kForward, in_bytes(i), out);
    }

    void backward(std::size_t i) {
        const Layer& layer = layers_[i];
        const double out = activations(layer);
        if (is_matrix(layer)) {
            matrix(layer, "input gradient", Phase::kBackward, out + weights(layer), in_bytes(i));
            matrix(layer, "weight gradient", Phase::kBackward, out + in_bytes(i), weights(layer));
        } else {
            stream(layer, "backward", Phase::kBackward, out + in_bytes(i), in_bytes(i));
        }
        pending_ += size_of(options_.gradient) * layer.parameters;
        if (pending_ >= (buckets_ == 0 ? options_.first_bucket : options_.bucket))
            flush();
    }

    void matrix(const Layer& layer, const char* what, Phase phase, double read, double written) {
        KernelOperation kernel;
        kernel.kernel_class = KernelClass::kGemmConv;
        kernel.flops = 2.0 * static_cast<double>(layer.macs) * options_.batch;
        const auto elements = static_cast<std::uint64_t>(written / options_.activation_bytes);
        // Products with few tiles are split along the sum until they fill the GPU.
        const std::uint64_t tiles =
            std::max<std::uint64_t>((elements + kTile - 1) / kTile, options_.sms);
        kernel.grid.x = static_cast<std::uint32_t>(tiles);
        kernel.block.x = 256;
        kernel.registers_per_thread = 200;
        kernel.shared_memory = kibibytes(96);
        add(layer, what, phase, kernel, read, written);
    }

    void stream(const Layer& layer, const char* what, Phase phase, double read, double written) {
        KernelOperation kernel;
        kernel.kernel_class = layer.type.find("norm") != std::string::npos
                                  ? KernelClass::kNorm
                                  : KernelClass::kElementwise;
        constexpr double kBytesABlock = 128 * 16;
        kernel.grid.x =
            static_cast<std::uint32_t>(std::clamp((read + written) / kBytesABlock, 1.0, 4e9));
        kernel.block.x = 128;
        kernel.registers_per_thread = 32;
        add(layer, what, phase, kernel, read, written);
    }

    void
    add(const Layer& layer,
        const char* what,
        Phase phase,
        KernelOperation kernel,
        double read,
        double written) {
        kernel.bytes_read = Bytes(static_cast<std::uint64_t>(read));
        kernel.bytes_written = Bytes(static_cast<std::uint64_t>(written));
        kernel.byte_source = ByteSource::kShapes;
        kernel.duration_source = DurationSource::kModel;
        const double seconds =
            std::max(kernel.flops / options_.flops, (read + written) / options_.bytes) +
            kLaunchSeconds;
        kernel.isolated = Time(static_cast<std::uint64_t>(seconds * 1e12));
        Operation operation;
        operation.name = names_.intern(layer.name + " " + what);
        operation.stream = kCompute;
        operation.phase = phase;
        operation.body = kernel;
        rank_->operations.push_back(std::move(operation));
    }

    /// All-reduces the gradients that are ready.
    void flush() {
        if (pending_.count() == 0)
            return;
        const Layer bucket{"bucket", "copy", 0, 0, 0};
        const auto bytes = static_cast<double>(pending_.count());
        stream(bucket, "copy", Phase::kBackward, bytes, bytes);
        CollectiveOperation collective;
        // Whole grains of every rank's part.
        const std::uint64_t grain = std::uint64_t{16} * options_.ranks;
        collective.bytes = Bytes((pending_.count() + grain - 1) / grain * grain);
        collective.datatype = options_.gradient;
        collective.sequence = buckets_++;
        collective.size_source = SizeSource::kUser;
        Operation operation;
        operation.name = names_.intern("all_reduce");
        operation.stream = kCommunication;
        operation.phase = Phase::kBackward;
        operation.dependencies = {static_cast<std::uint32_t>(rank_->operations.size() - 1)};
        operation.body = collective;
        last_collective_ = static_cast<std::uint32_t>(rank_->operations.size());
        rank_->operations.push_back(std::move(operation));
        pending_ = Bytes(0);
    }

    void optimizer() {
        const double parameters = std::accumulate(
            layers_.begin(), layers_.end(), 0.0, [](double sum, const Layer& layer) {
                return sum + static_cast<double>(layer.parameters);
            });
        constexpr double kBytesEach = 4;  // of parameters, gradients and momentum
        const Layer all{"optimizer", "optimizer", 0, 0, 0};
        stream(
            all,
            "step",
            Phase::kOptimizer,
            3 * kBytesEach * parameters,
            2 * kBytesEach * parameters);
        if (buckets_ > 0)
            rank_->operations.back().dependencies = {last_collective_};
    }

    const std::vector<Layer>& layers_;
    const DataParallelOptions& options_;
    std::shared_ptr<RankGraph> rank_ = std::make_shared<RankGraph>();
    NameTable names_;
    Bytes pending_;
    std::uint64_t buckets_ = 0;
    std::uint32_t last_collective_ = 0;
};

}  // namespace

ExecutionGraph
data_parallel_step(const std::vector<Layer>& layers, const DataParallelOptions& options) {
    return Builder(layers, options).build();
}

}  // namespace switchfold

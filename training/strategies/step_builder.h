// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/layer.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// How a network is trained, and the throughput that the GPU reaches alone.
struct TrainingOptions {
    std::string name;
    std::uint32_t ranks = 8;
    std::uint32_t batch = 32;  ///< samples per rank
    std::uint32_t sms = 108;
    double flops = 0;                    ///< per second, reached by dense matrix kernels
    double bytes = 0;                    ///< per second, reached by streaming kernels
    std::uint32_t activation_bytes = 2;  ///< per element of weights and activations
    Datatype gradient = Datatype::kFloat32;
};

/// Builds one rank's step of a training strategy, operation by operation, with compute on one
/// stream and communication on another. A kernel's isolated duration is 3 us plus the longer of its
/// arithmetic and its memory time. Matrix layers run one kernel forward and two backward, in tiles
/// of 128 x 128; all other layers run one in each direction.
class StepBuilder {
public:
    using Index = std::uint32_t;  ///< of an operation

    StepBuilder(const std::vector<Layer>& layers, const TrainingOptions& options);

    void forward(std::size_t layer);
    void backward(std::size_t layer);
    /// Adds a copy of `bytes`, for example into a flat buffer.
    void copy(std::string_view what, Phase phase, double bytes);
    /// Adds Adam or SGD with momentum on `parameters`: reads three arrays of 4 B, writes two.
    void optimizer(double parameters);
    /// Makes the next kernel wait for this operation as well.
    void wait_for(Index operation) { waits_.push_back(operation); }
    Index communicate(
        std::string_view name, CollectiveKind kind, Bytes bytes, Datatype datatype, Phase phase,
        std::vector<Index> dependencies);
    /// The last kernel added.
    [[nodiscard]] Index last_kernel() const { return last_kernel_; }
    [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
    [[nodiscard]] ExecutionGraph take();

private:
    [[nodiscard]] double in_bytes(std::size_t layer) const;
    [[nodiscard]] double activations(const Layer& layer) const;
    [[nodiscard]] double weights(const Layer& layer) const;
    void attention(const Layer& layer, Phase phase, double work, double read, double written);
    void matrix(const Layer& layer, const char* what, Phase phase, double read, double written);
    void
    stream(const Layer& layer, std::string_view what, Phase phase, double read, double written);
    void
    add(const Layer& layer, std::string_view what, Phase phase, KernelOperation kernel, double read,
        double written);

    const std::vector<Layer>& layers_;
    const TrainingOptions& options_;
    std::shared_ptr<RankGraph> rank_ = std::make_shared<RankGraph>();
    NameTable names_;
    std::vector<Index> waits_;
    Index last_kernel_ = 0;
    std::uint64_t collectives_ = 0;
};

}  // namespace switchfold

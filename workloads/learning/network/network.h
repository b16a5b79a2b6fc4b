// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/network/layer.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold::learning {

enum class NetworkKind : std::uint8_t { kMlp, kResidual, kTransformer, kQuadratic };

/// A small network that stands for the simulated one in its numbers. `depth` pieces in a row can be
/// shared out to stages; the first takes the inputs, the last makes the outputs.
struct NetworkShape {
    NetworkKind kind = NetworkKind::kMlp;
    std::uint32_t depth = 8;
    std::uint32_t width = 16;
    std::uint32_t inside = 0;  ///< of residual and transformer blocks; 0: the width
    std::uint32_t heads = 2;   ///< of a transformer
    std::uint32_t tokens = 4;  ///< of a transformer: into so many the features are cut
    double curvature = 1;      ///< of a quadratic, each of whose pieces has `width` parameters
    double start = 1;          ///< of every parameter of a quadratic
};

/// The pieces of a network that one stage holds, and where their weights lie.
class Stage {
public:
    void add(std::uint32_t number, const Layer& layer);
    [[nodiscard]] Index parameters() const { return parameters_; }
    /// A piece's weights depend on the seed and its number, not on how the network is cut.
    [[nodiscard]] Vector initial_weights(std::uint64_t seed) const;
    [[nodiscard]] Matrix
    forward(const Vector& weights, Matrix input, std::vector<Tape>& tapes) const;
    /// \returns the gradient of the stage's input. Products come onto the tapes.
    [[nodiscard]] Matrix
    backward(const Vector& weights, Matrix gradient, std::vector<Tape>& tapes) const;
    /// Adds what a backward left on the tapes.
    void add_gradients(const std::vector<Tape>& tapes, Vector& gradient) const;

private:
    struct Piece {
        std::uint32_t number = 0;
        const Layer* layer = nullptr;
        Index offset = 0;
    };
    std::vector<Piece> pieces_;
    Index parameters_ = 0;
};

class Network {
public:
    Network(const NetworkShape& shape, Index features, Index outputs);
    [[nodiscard]] std::uint32_t depth() const { return static_cast<std::uint32_t>(layers_.size()); }
    /// As even as it goes, at most depth() stages. They refer to this network.
    [[nodiscard]] std::vector<Stage> cut(std::uint32_t stages) const;

private:
    std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace switchfold::learning

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/network/layer.h"
#include "training/learning/task/task.h"
#include "training/learning/train/watch.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold::learning {

/// The units of a network that one stage holds, and the offsets of their weights.
class Stage {
public:
    /// Looks at the watch within long passes, if there is one; it must outlive the stage.
    explicit Stage(const Watch* watch) : watch_(watch) {}
    void add(std::uint32_t number, const Layer& layer);
    [[nodiscard]] Index parameters() const { return parameters_; }
    /// A unit's weights depend on the seed and the unit's number, not on how the network is cut.
    [[nodiscard]] Vector initial_weights(std::uint64_t seed) const;
    [[nodiscard]] Matrix
    forward(const Vector& weights, Matrix input, std::vector<Tape>& tapes) const;
    /// \returns the gradient of the stage's input; products go onto the tapes.
    [[nodiscard]] Matrix
    backward(const Vector& weights, Matrix gradient, std::vector<Tape>& tapes) const;
    /// Adds the gradients that a backward left on the tapes.
    void add_gradients(const std::vector<Tape>& tapes, Vector& gradient) const;

private:
    /// Looks at the watch before a layer, if much has been computed since.
    void look(const Layer& layer, Index samples, Index& unseen) const;
    struct Piece {
        std::uint32_t number = 0;
        const Layer* layer = nullptr;
        Index offset = 0;
    };
    const Watch* watch_;
    std::vector<Piece> pieces_;
    Index parameters_ = 0;
};

class Network {
public:
    Network(const NetworkShape& shape, Index features, Index outputs);
    [[nodiscard]] std::uint32_t depth() const { return static_cast<std::uint32_t>(layers_.size()); }
    /// Divides as evenly as possible, into at most depth() stages. They refer to this network, and
    /// to the watch.
    [[nodiscard]] std::vector<Stage> cut(std::uint32_t stages, const Watch* watch = nullptr) const;

private:
    std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace switchfold::learning

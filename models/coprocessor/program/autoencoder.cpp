// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/program/autoencoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace switchfold::offload {

namespace {

constexpr std::uint64_t kFloat = 4;  // bytes
/// Operations of gradient descent per weight, which reads the weight and its gradient and writes
/// the weight.
constexpr std::uint64_t kUpdateOperations = 1;

struct Layer {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    bool encoder = false;
    [[nodiscard]] std::uint64_t weights() const { return in * out; }
};

std::vector<Layer> layers_of(const Autoencoder& network) {
    std::vector<Layer> layers;
    const auto& widths = network.widths;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i)
        layers.push_back({widths[i], widths[i + 1], true});
    for (std::size_t i = widths.size() - 1; i > 0; --i)
        layers.push_back({widths[i], widths[i - 1], false});
    return layers;
}

/// For a whole mini-batch.
std::uint64_t activation_bytes(const Autoencoder& network, const std::vector<Layer>& layers) {
    std::uint64_t kept = network.widths.front();
    std::uint64_t encoder = 0;
    std::uint64_t widest = 0;
    for (const Layer& layer : layers) {
        kept += layer.out;
        encoder += layer.encoder ? layer.out : 0;
        widest = std::max(widest, layer.in + layer.out);
    }
    // Errors propagate layer by layer; the encoder's activations are needed again after the
    // decoder.
    const std::uint64_t code = network.widths.back();
    const std::uint64_t decoder = kept - encoder + code;
    const std::uint64_t again = network.widths.front() + encoder;
    const std::uint64_t most = network.recompute ? std::max(decoder, again) : kept;
    return (most + widest) * network.batch * kFloat;
}

class Writer {
public:
    explicit Writer(const Autoencoder& network) :
        network_(network), layers_(layers_of(network)), batch_(network.batch) {}

    ParallelProgram run() {
        for (std::size_t i = 0; i < layers_.size(); ++i)
            forward(i, "");
        for (std::size_t i = layers_.size(); i-- > 0;) {
            if (network_.recompute && layers_[i].encoder && !ran_again_)
                run_encoder_again();
            backward(i);
        }
        update();
        facts();
        return std::move(program_);
    }

private:
    void region(std::string name, Phase phase, std::vector<Work> parts) {
        program_.regions.push_back({std::move(name), phase, std::move(parts)});
    }
    /// An element-wise pass over the layer's outputs, since library products have no sigmoid
    /// epilogue.
    [[nodiscard]] ElementLoop
    walk(std::uint64_t width, std::uint64_t operations, bool sigmoid) const {
        return {batch_ * width, 2 * kFloat, kFloat, 2, operations, false, sigmoid};
    }

    void forward(std::size_t i, const std::string& again) {
        const Layer& layer = layers_[i];
        const Phase phase = again.empty() ? Phase::kForward : Phase::kBackward;
        const std::string name = fmt::format("layer {} forward{}", i, again);
        if (network_.strategy == Strategy::kLibrary) {
            region(name, phase, {LibraryProduct{batch_, layer.out, layer.in}});
            region(name + " sigmoid", phase, {walk(layer.out, 0, true)});
            return;
        }
        region(
            name, phase,
            {ProductLoop{
                batch_, layer.out, layer.in, 0, layer.weights() * kFloat,
                (layer.in + layer.out) * kFloat, 0, 0, true}});
    }

    void run_encoder_again() {
        ran_again_ = true;
        for (std::size_t i = 0; i < layers_.size() && layers_[i].encoder; ++i)
            forward(i, " again");
    }

    /// The weight gradient and, except for the first layer, the error of the layer below.
    void backward(std::size_t i) {
        const Layer& layer = layers_[i];
        const std::string name = fmt::format("layer {} backward", i);
        // Error times the sigmoid's derivative: two multiplications and a subtraction.
        constexpr std::uint64_t kDerivative = 3;
        if (network_.strategy == Strategy::kLibrary) {
            region(name + " derivative", Phase::kBackward, {walk(layer.out, kDerivative, false)});
            region(
                name + " weights", Phase::kBackward, {LibraryProduct{layer.in, layer.out, batch_}});
            if (i > 0)
                region(name, Phase::kBackward, {LibraryProduct{batch_, layer.in, layer.out}});
            return;
        }
        std::vector<Work> parts;
        // Rows of the weight gradient share the error vector; each core sums its own rows.
        ProductLoop gradient{
            batch_, layer.out, layer.in, layer.in, 0, (layer.in + layer.out) * kFloat,
            // Atomic additions come from registers, without copies.
            network_.sum == GradientSum::kCopies ? layer.weights() * kFloat : 0, 0, false};
        parts.emplace_back(gradient);
        if (i > 0)
            parts.emplace_back(ProductLoop{
                batch_, layer.in, layer.out, 0, layer.weights() * kFloat,
                (layer.in + layer.out) * kFloat, 0, kDerivative, false});
        if (network_.sum == GradientSum::kAtomics)
            parts.emplace_back(AtomicSum{layer.weights()});
        else
            parts.emplace_back(TreeSum{layer.weights()});
        region(name, Phase::kBackward, std::move(parts));
    }

    void update() {
        region(
            "update", Phase::kUpdate,
            {ElementLoop{
                weights_of(network_), 2 * kFloat, kFloat, 2, kUpdateOperations, false, false}});
    }

    void facts() {
        const std::uint64_t weights = weights_of(network_);
        const bool copies =
            network_.strategy == Strategy::kTwoLevel && network_.sum == GradientSum::kCopies;
        program_.samples = batch_;
        program_.bytes_in = batch_ * network_.widths.front() * kFloat;
        program_.bytes_out = network_.returns_code ? batch_ * network_.widths.back() * kFloat : 0;
        // Weights and their gradients; the input is part of the activations.
        program_.resident_bytes =
            2 * weights * kFloat + activation_bytes(network_, layers_) - program_.bytes_in;
        program_.team_bytes = copies ? weights * kFloat : 0;
        const auto products = static_cast<double>(3 * weights - layers_.front().weights());
        program_.flops = 2.0 * static_cast<double>(batch_) * products;
    }

    const Autoencoder& network_;
    std::vector<Layer> layers_;
    std::uint64_t batch_;
    bool ran_again_ = false;
    ParallelProgram program_;
};

}  // namespace

ParallelProgram training_step(const Autoencoder& network) {
    return Writer(network).run();
}

std::uint64_t weights_of(const Autoencoder& network) {
    std::uint64_t weights = 0;
    for (const Layer& layer : layers_of(network))
        weights += layer.weights();
    return weights;
}

}  // namespace switchfold::offload

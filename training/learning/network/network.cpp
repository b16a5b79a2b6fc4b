// SPDX-License-Identifier: Apache-2.0
#include "training/learning/network/network.h"

#include "core/error.h"

#include <fmt/format.h>

#include <utility>

namespace switchfold::learning {

void Stage::add(std::uint32_t number, const Layer& layer) {
    pieces_.push_back({number, &layer, parameters_});
    parameters_ += layer.parameters();
}

Vector Stage::initial_weights(std::uint64_t seed) const {
    Vector weights = Vector::Zero(parameters_);
    for (const Piece& piece : pieces_) {
        Normals random(seed, fmt::format("weights of piece {}", piece.number));
        piece.layer->initialise(random, weights.data() + piece.offset);
    }
    return weights;
}

void Stage::look(const Layer& layer, Index samples, Index& unseen) const {
    constexpr Index kOften = Index{1} << 20;  // multiplications, about a millisecond
    unseen += layer.parameters() * samples;
    if (watch_ == nullptr || unseen < kOften)
        return;
    watch_->look();
    unseen = 0;
}

Matrix Stage::forward(const Vector& weights, Matrix input, std::vector<Tape>& tapes) const {
    tapes.assign(pieces_.size(), {});
    Index unseen = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        look(*pieces_[i].layer, input.cols(), unseen);
        input = pieces_[i].layer->forward(weights.data() + pieces_[i].offset, input, tapes[i]);
    }
    return input;
}

Matrix Stage::backward(const Vector& weights, Matrix gradient, std::vector<Tape>& tapes) const {
    Index unseen = 0;
    for (std::size_t i = pieces_.size(); i-- > 0;) {
        look(*pieces_[i].layer, gradient.cols(), unseen);
        gradient =
            pieces_[i].layer->backward(weights.data() + pieces_[i].offset, gradient, tapes[i]);
        tapes[i].kept.clear();
    }
    return gradient;
}

void Stage::add_gradients(const std::vector<Tape>& tapes, Vector& gradient) const {
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        for (const OuterProduct& product : tapes[i].products)
            add_outer_products(
                product.left, product.right, gradient.data() + pieces_[i].offset + product.offset);
}

Network::Network(const NetworkShape& shape, Index features, Index outputs) {
    const Index width = shape.width;
    const Index inside = shape.inside == 0 ? width : Index{shape.inside};
    for (std::uint32_t i = 0; i < shape.depth; ++i) {
        const bool first = i == 0;
        const bool last = i + 1 == shape.depth;
        switch (shape.kind) {
        case NetworkKind::kMlp:
            layers_.push_back(dense_layer(
                first ? features : width, last ? outputs : width,
                last ? Activation::kNone : Activation::kTanh));
            break;
        case NetworkKind::kResidual:
            layers_.push_back(
                first || last
                    ? dense_layer(
                          first ? features : width, last ? outputs : width, Activation::kNone)
                    : residual_block(width, inside));
            break;
        case NetworkKind::kTransformer:
            layers_.push_back(
                first  ? token_input(shape.tokens, features, width)
                : last ? token_output(shape.tokens, width, outputs)
                       : transformer_block(shape.tokens, width, shape.heads, inside));
            break;
        case NetworkKind::kQuadratic:
            layers_.push_back(
                quadratic_layer(width, Index{i} * width, shape.curvature, shape.start));
            break;
        }
    }
}

std::vector<Stage> Network::cut(std::uint32_t stages, const Watch* watch) const {
    SWITCHFOLD_CHECK(
        stages > 0 && stages <= depth(), "{} pieces make no {} stages", depth(), stages);
    std::vector<Stage> cut(stages, Stage(watch));
    for (std::uint32_t i = 0; i < depth(); ++i)
        cut[std::uint64_t{i} * stages / depth()].add(i, *layers_[i]);
    return cut;
}

}  // namespace switchfold::learning

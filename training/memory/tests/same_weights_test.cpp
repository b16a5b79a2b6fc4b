// SPDX-License-Identifier: Apache-2.0
#include "training/memory/update/update_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace switchfold::same_weights_test {
namespace {

/// A chain of scalars, y = tanh(w_L tanh(.. tanh(w_1 x))), trained with momentum in the order of a
/// replay's events. An event reads at its start and writes at its end.
class Training {
public:
    explicit Training(std::size_t layers) : weights_(layers), moments_(layers, 0.0) {
        for (std::size_t l = 0; l < layers; ++l)
            weights_[l] = 0.5 + 0.1 * static_cast<double>(l);
    }

    /// With `shadow`, updates write a copy of the weights, which replaces them after the backward
    /// pass.
    void iterate(
        const UpdateReplay& replay, const std::vector<GradientGroup>& groups, bool shadow,
        double x) {
        const std::size_t layers = weights_.size();
        std::vector<double> a{x};
        for (std::size_t l = 0; l < layers; ++l)
            a.push_back(std::tanh(weights_[l] * a[l]));
        std::vector<double> d(layers + 1);  // gradient of a layer's output before tanh
        d[layers] = a[layers] - 0.3;
        std::vector<double> gradient(layers);
        std::vector<double> next = weights_;
        struct Point {
            double time;
            bool end;
            std::size_t event;
        };
        std::vector<Point> points;
        for (std::size_t e = 0; e < replay.events.size(); ++e) {
            points.push_back({replay.events[e].begin, false, e});
            points.push_back({replay.events[e].end, true, e});
        }
        // At equal times, ends come before starts.
        std::stable_sort(points.begin(), points.end(), [](const Point& a1, const Point& b1) {
            return std::pair(a1.time, !a1.end) < std::pair(b1.time, !b1.end);
        });
        std::vector<double> result(replay.events.size());
        for (const Point& point : points) {
            const UpdateEvent& event = replay.events[point.event];
            const std::size_t l = event.index;
            if (event.kind == UpdateEvent::Kind::kUpdate) {
                for (const std::uint32_t layer : groups[l].layers) {
                    if (!point.end) {
                        moments_[layer] = 0.9 * moments_[layer] + gradient[layer];
                        next[layer] = weights_[layer] - 0.1 * moments_[layer];
                        // A half-written weight: a pass that reads it now sees a mix of old and
                        // new.
                        if (!shadow)
                            weights_[layer] = (weights_[layer] + next[layer]) / 2;
                    } else if (!shadow) {
                        weights_[layer] = next[layer];
                    }
                }
                continue;
            }
            const double through = d[l + 1] * (1 - a[l + 1] * a[l + 1]);
            if (event.kind == UpdateEvent::Kind::kInputGradient) {
                // Weights are read at both ends of the pass, so a write in between changes the
                // result.
                result[point.event] += through * weights_[l] / 2;
                if (point.end)
                    d[l] = result[point.event];
            } else if (point.end) {
                gradient[l] = through * a[l];
            }
        }
        weights_ = next;
    }

    [[nodiscard]] const std::vector<double>& weights() const { return weights_; }

private:
    std::vector<double> weights_;
    std::vector<double> moments_;
};

std::vector<double> trained(
    const std::vector<UpdateLayer>& layers, const std::vector<GradientGroup>& groups,
    UpdatePolicy policy, bool shadow) {
    UpdateOptions options;
    options.policy = policy;
    const UpdateReplay replay = replay_update(layers, groups, options);
    Training training(layers.size());
    for (int i = 0; i < 4; ++i)
        training.iterate(replay, groups, shadow, 0.7 + 0.1 * i);
    return training.weights();
}

std::vector<UpdateLayer> random_layers(int least_update) {
    std::vector<UpdateLayer> layers(*rc::gen::inRange<std::size_t>(2, 8));
    for (UpdateLayer& layer : layers) {
        layer.input_gradient = *rc::gen::inRange(1, 20);
        layer.weight_gradient = *rc::gen::inRange(1, 20);
        layer.update = *rc::gen::inRange(least_update, least_update + 20);
        layer.gradient = layer.weights = *rc::gen::inRange<std::uint64_t>(1, 9);
    }
    return layers;
}

RC_GTEST_PROP(SameWeights, DelayedAndImmediateEndWithThoseOfBatch, ()) {
    const auto layers = random_layers(1);
    const auto groups =
        *rc::gen::arbitrary<bool>() ? layer_groups(layers) : bucket_groups(layers, 3, 12);
    const auto batch = trained(layers, groups, UpdatePolicy::kBatch, false);
    RC_ASSERT(trained(layers, groups, UpdatePolicy::kDelayed, false) == batch);
    RC_ASSERT(trained(layers, groups, UpdatePolicy::kImmediate, false) == batch);
}

/// Without a shadow, an update that takes longer than X of its layer and D of the next one
/// overwrites weights that X still reads.
RC_GTEST_PROP(SameWeights, OverlappedNeedsItsShadow, ()) {
    const auto layers = random_layers(10);
    const auto groups = layer_groups(layers);
    const auto batch = trained(layers, groups, UpdatePolicy::kBatch, false);
    RC_ASSERT(trained(layers, groups, UpdatePolicy::kOverlapped, true) == batch);
    RC_ASSERT(trained(layers, groups, UpdatePolicy::kOverlapped, false) != batch);
}

}  // namespace
}  // namespace switchfold::same_weights_test

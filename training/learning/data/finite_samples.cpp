// SPDX-License-Identifier: Apache-2.0
#include "training/learning/data/finite_samples.h"

#include "core/random_stream.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace switchfold::learning {

FiniteSamples::FiniteSamples(Batch all, Batch held_out, LossKind loss, std::uint64_t seed) :
    all_(std::move(all)), held_out_(std::move(held_out)), loss_(loss), seed_(seed) {}

Index FiniteSamples::place(std::uint64_t sample) {
    const auto size = static_cast<std::uint64_t>(all_.inputs.cols());
    const std::uint64_t epoch = sample / size;
    Order& order = orders_[epoch % 2];
    if (order.epoch != epoch) {
        order.epoch = epoch;
        order.places.resize(size);
        std::iota(order.places.begin(), order.places.end(), 0U);
        RandomStream random(seed_, fmt::format("order of epoch {}", epoch));
        for (std::uint64_t i = size; i > 1; --i)
            std::swap(order.places[i - 1], order.places[random.below(i)]);
    }
    return order.places[sample % size];
}

Batch FiniteSamples::batch(std::uint64_t first, std::uint32_t count) {
    Batch batch{Matrix(all_.inputs.rows(), count), Matrix(all_.targets.rows(), count)};
    for (std::uint32_t i = 0; i < count; ++i) {
        const Index from = place(first + i);
        batch.inputs.col(i) = all_.inputs.col(from);
        batch.targets.col(i) = all_.targets.col(from);
    }
    return batch;
}

}  // namespace switchfold::learning

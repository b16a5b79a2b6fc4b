// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/data/samples.h"

#include <cstdint>
#include <vector>

namespace switchfold::learning {

/// A finite set of samples, repeated in epochs, each in its own order.
class FiniteSamples : public Samples {
public:
    /// `loss`: kind of loss that the targets are for.
    FiniteSamples(Batch all, Batch held_out, LossKind loss, std::uint64_t seed);

    [[nodiscard]] Index features() const override { return all_.inputs.rows(); }
    [[nodiscard]] Index outputs() const override { return all_.targets.rows(); }
    [[nodiscard]] LossKind loss() const override { return loss_; }
    [[nodiscard]] Batch batch(std::uint64_t first, std::uint32_t count) override;
    [[nodiscard]] const Batch& held_out() const override { return held_out_; }

private:
    [[nodiscard]] Index place(std::uint64_t sample);

    Batch all_;
    Batch held_out_;
    LossKind loss_;
    std::uint64_t seed_;
    /// Orders of the most recent epochs: passes of several mini-batches may be in flight at once.
    struct Order {
        std::uint64_t epoch = UINT64_MAX;
        std::vector<std::uint32_t> places;
    };
    Order orders_[2];
};

}  // namespace switchfold::learning

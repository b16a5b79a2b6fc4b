// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/timeline/ran_passes.h"

#include <cstdint>
#include <vector>

namespace switchfold::learning {

/// Which weights existed when: passes read weights at their begin, and an update takes effect at
/// its end. Everything follows from the begins and ends of a run, independent of the kind of
/// schedule.
class WeightTimeline {
public:
    /// Looks at the watch on the way.
    explicit WeightTimeline(RanPasses ran, const Watch& watch = {});

    /// Events in order of time: passes by their begin, updates by their end.
    struct Event {
        double time = 0;
        Pass pass;
        std::uint32_t holder = 0;
        /// Number of the holder's earlier updates of the stage.
        std::uint32_t version = 0;
    };
    [[nodiscard]] const std::vector<Event>& events() const { return events_; }

    [[nodiscard]] std::uint32_t stages() const { return ran_.stages; }
    [[nodiscard]] std::uint32_t holders() const { return holders_; }
    [[nodiscard]] std::uint32_t micro_batches() const { return ran_.micro_batches; }
    [[nodiscard]] std::uint32_t a_step() const { return ran_.a_step; }

    /// Number of a stage's updates; all its holders make the same ones.
    [[nodiscard]] std::uint32_t updates(std::uint32_t stage) const {
        return static_cast<std::uint32_t>(goes_into_[stage].size());
    }
    /// The micro-batches whose gradients enter an update, ascending.
    [[nodiscard]] const std::vector<std::uint32_t>&
    gradients_of(std::uint32_t stage, std::uint32_t update) const {
        return goes_into_[stage][update];
    }
    /// Number of a stage's updates that only earlier micro-batches entered.
    [[nodiscard]] std::uint32_t
    updates_by_earlier(std::uint32_t stage, std::uint32_t micro_batch) const;
    /// Number of updates that the micro-batch's holder on the stage has made when its backward
    /// begins on the first stage.
    [[nodiscard]] std::uint32_t
    updates_at_round_trip(std::uint32_t stage, std::uint32_t micro_batch) const {
        return at_round_trip_[stage][micro_batch];
    }
    /// Version of the stage at a micro-batch's forward, and at its backward.
    [[nodiscard]] std::uint32_t at_forward(std::uint32_t stage, std::uint32_t micro_batch) const {
        return at_forward_[stage][micro_batch];
    }
    [[nodiscard]] std::uint32_t at_backward(std::uint32_t stage, std::uint32_t micro_batch) const {
        return at_backward_[stage][micro_batch];
    }

private:
    void order(const Watch& watch);
    void find_gradients(const Watch& watch);
    void count_versions(const Watch& watch);

    RanPasses ran_;  ///< without its passes once the timeline is made
    std::uint32_t holders_ = 0;
    std::vector<Event> events_;
    std::vector<std::vector<std::vector<std::uint32_t>>> goes_into_;  ///< [stage][update]
    std::vector<std::vector<std::uint32_t>>
        latest_;  ///< [stage][update]: last of its micro-batches
    std::vector<std::vector<std::uint32_t>> at_round_trip_;  ///< [stage][micro-batch]
    std::vector<std::vector<std::uint32_t>> at_forward_;
    std::vector<std::vector<std::uint32_t>> at_backward_;
};

}  // namespace switchfold::learning

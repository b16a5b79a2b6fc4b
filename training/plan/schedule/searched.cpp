// SPDX-License-Identifier: Apache-2.0
// Zero-bubble schedules for given times of passes and a limit of activations (Qi et al. 2024,
// section 3): devices run through time and take what is ready; weight gradients fill gaps.
#include "core/error.h"
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/replay.h"
#include "training/plan/schedule/schedule_builder.h"

#include <algorithm>
#include <limits>

namespace switchfold {

namespace {

constexpr double kNotReady = std::numeric_limits<double>::infinity();

/// Options that the search tries in both settings.
struct Choices {
    /// A stage may have this many more micro-batches between forward and input gradient than the
    /// next stage; then it starts no further forward.
    std::uint32_t ahead = 1;
    bool forward_first = false;  ///< if a forward and an input gradient are both ready
    bool fill_always = false;    ///< run a weight gradient in every gap, however short
};

class Search {
public:
    Search(const ScheduleShape& shape, const char* name, std::uint32_t limit, Choices choices) :
        shape_(shape),
        p_(shape.devices),
        m_(shape.micro_batches),
        limit_(limit),
        choices_(choices),
        builder_(name, p_, m_, {straight(p_)}),
        devices_(p_),
        forward_end_(p_, std::vector<double>(m_, kNotReady)),
        gradient_end_(p_, std::vector<double>(m_, kNotReady)) {}

    PipelineSchedule make() {
        for (std::uint64_t left = std::uint64_t{3} * p_ * m_; left > 0; --left) {
            // The device that can continue first; ties go to the last one, on which others depend.
            std::uint32_t next = p_;
            double begin = kNotReady;
            for (std::uint32_t s = p_; s-- > 0;) {
                const double ready = ready_at(s);
                if (ready < begin) {
                    begin = ready;
                    next = s;
                }
            }
            SWITCHFOLD_CHECK(next < p_, "a search of {} devices deadlocks", p_);
            step(next, begin);
        }
        builder_.update_at_the_end();
        return builder_.take();
    }

private:
    struct Device {
        double free = 0;
        double idle = 0;  ///< total since its first pass
        std::uint32_t forwards = 0;
        std::uint32_t gradients = 0;
        std::uint32_t weights = 0;
    };

    /// When the next forward's input is there; kNotReady if nobody knows yet, or there is no room.
    [[nodiscard]] double forward_ready(std::uint32_t s) const {
        const Device& d = devices_[s];
        const std::uint32_t in_flight = d.forwards - d.gradients;
        const double kept = in_flight + (d.gradients - d.weights) * shape_.weight_kept;
        if (d.forwards == m_ || kept + 1 > limit_ || in_flight >= choices_.ahead * (p_ - 1 - s) + 1)
            return kNotReady;
        return s == 0 ? 0 : forward_end_[s - 1][d.forwards] + shape_.message;
    }
    [[nodiscard]] double gradient_ready(std::uint32_t s) const {
        const Device& d = devices_[s];
        if (d.gradients == d.forwards)
            return kNotReady;
        return s + 1 == p_ ? forward_end_[s][d.gradients]
                           : gradient_end_[s + 1][d.gradients] + shape_.message;
    }
    [[nodiscard]] bool has_weight(std::uint32_t s) const {
        return devices_[s].weights < devices_[s].gradients;
    }
    /// Earliest begin of any pass on the device.
    [[nodiscard]] double ready_at(std::uint32_t s) const {
        const double ready = has_weight(s) ? 0 : std::min(forward_ready(s), gradient_ready(s));
        return ready == kNotReady ? kNotReady : std::max(devices_[s].free, ready);
    }

    void step(std::uint32_t s, double begin) {
        Device& d = devices_[s];
        const double forward = std::max(d.free, forward_ready(s));
        const double gradient = std::max(d.free, gradient_ready(s));
        const double next = std::min(forward, gradient);
        if (has_weight(s) && (next == kNotReady || fills(s, next - d.free))) {
            run(s, PassKind::kWeightGradient, begin);
            return;
        }
        // Alternates forward and input gradient; the warm-up lasts while memory allows.
        const bool both = forward == gradient;
        const bool takes_forward =
            both ? choices_.forward_first || d.forwards - d.gradients < p_ - s : forward < gradient;
        run(s, takes_forward ? PassKind::kForward : PassKind::kInputGradient, next);
    }

    /// Whether to run a weight gradient in the gap.
    [[nodiscard]] bool fills(std::uint32_t s, double gap) const {
        if (gap <= 0)
            return false;
        if (choices_.fill_always || gap >= shape_.weight_gradient)
            return true;
        double most = 0;
        for (const Device& d : devices_)
            most = std::max(most, d.idle);
        return devices_[s].idle + gap > most;
    }

    void run(std::uint32_t s, PassKind kind, double begin) {
        Device& d = devices_[s];
        if (d.forwards > 0)
            d.idle += std::max(0.0, begin - d.free);
        if (kind == PassKind::kForward) {
            d.free = begin + shape_.forward;
            forward_end_[s][d.forwards] = d.free;
            builder_.add(s, kind, d.forwards++, s);
        } else if (kind == PassKind::kInputGradient) {
            d.free = begin + shape_.input_gradient;
            gradient_end_[s][d.gradients] = d.free;
            builder_.add(s, kind, d.gradients++, s);
        } else {
            d.free = begin + shape_.weight_gradient;
            builder_.add(s, kind, d.weights++, s);
        }
    }

    const ScheduleShape& shape_;
    std::uint32_t p_;
    std::uint32_t m_;
    std::uint32_t limit_;
    Choices choices_;
    ScheduleBuilder builder_;
    std::vector<Device> devices_;
    std::vector<std::vector<double>> forward_end_;
    std::vector<std::vector<double>> gradient_end_;
};

/// The best schedule over all choices and over the handmade schedules within the limit.
PipelineSchedule search(const ScheduleShape& shape, const char* name, std::uint32_t limit) {
    const ReplayTimes times{
        std::vector<StageTimes>(
            shape.devices, {shape.forward, shape.input_gradient, shape.weight_gradient, 0, 0}),
        shape.message};
    PipelineSchedule best = zero_bubble_h1(shape);
    double cost = replay(best, times).cost;
    const auto consider = [&](PipelineSchedule candidate) {
        const double found = replay(candidate, times).cost;
        if (found < cost) {
            cost = found;
            best = std::move(candidate);
        }
    };
    if (limit >= 2 * shape.devices - 1)
        consider(zero_bubble_h2(shape));
    for (const std::uint32_t ahead : {1U, 2U, 3U, 4U})
        for (const bool forward_first : {false, true})
            for (const bool fill_always : {false, true})
                consider(Search(shape, name, limit, {ahead, forward_first, fill_always}).make());
    best.name = name;
    best.no_barrier = true;
    return best;
}

}  // namespace

PipelineSchedule zero_bubble_1p(const ScheduleShape& shape) {
    return search(shape, "zb_1p", shape.devices);
}

PipelineSchedule zero_bubble_2p(const ScheduleShape& shape) {
    return search(shape, "zb_2p", 2 * shape.devices);
}

}  // namespace switchfold

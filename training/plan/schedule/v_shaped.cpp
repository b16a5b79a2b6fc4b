// SPDX-License-Identifier: Apache-2.0
// Qi et al., Pipeline Parallelism with Controllable Memory (2024): two stages a device, down and
// back, so that the device that holds an activation longest in one holds it shortest in the other.
#include "core/error.h"
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/schedule_builder.h"

#include <algorithm>
#include <array>
#include <deque>
#include <set>

namespace switchfold {

namespace {

constexpr std::int64_t kCell = 6;  // forward and both gradients of two stages, one unit each

/// Start times (units) of the first micro-batch's passes on a device; each further micro-batch
/// starts one cell later.
struct Beginnings {
    std::int64_t forward_down;
    std::int64_t forward_up;
    std::int64_t gradient_up;
    std::int64_t gradient_down;
};

/// A periodic schedule; a weight gradient takes the first free unit after its input gradient.
PipelineSchedule periodic(
    const ScheduleShape& shape, const char* name,
    Beginnings (*of_device)(std::int64_t p, std::int64_t i)) {
    const std::uint32_t p = shape.devices;
    ScheduleBuilder builder(name, p, shape.micro_batches, {folded(p)});
    for (std::uint32_t i = 0; i < p; ++i) {
        const Beginnings begin = of_device(p, i);
        const std::uint32_t up = 2 * p - 1 - i;
        std::vector<TimedPass> passes;
        std::set<std::int64_t> taken;
        for (std::uint32_t j = 0; j < shape.micro_batches; ++j) {
            const std::int64_t cell = kCell * j;
            passes.push_back({begin.forward_down + cell, {PassKind::kForward, j, i}});
            passes.push_back({begin.forward_up + cell, {PassKind::kForward, j, up}});
            passes.push_back({begin.gradient_up + cell, {PassKind::kInputGradient, j, up}});
            passes.push_back({begin.gradient_down + cell, {PassKind::kInputGradient, j, i}});
        }
        for (const TimedPass& timed : passes)
            taken.insert(timed.time);
        std::stable_sort(passes.begin(), passes.end(), [](const TimedPass& a, const TimedPass& b) {
            return a.time < b.time;
        });
        const std::size_t others = passes.size();
        for (std::size_t k = 0; k < others; ++k) {
            if (passes[k].pass.kind != PassKind::kInputGradient)
                continue;
            std::int64_t free = passes[k].time + 1;
            while (!taken.insert(free).second)
                ++free;
            passes.push_back(
                {free,
                 {PassKind::kWeightGradient, passes[k].pass.micro_batch, passes[k].pass.stage}});
        }
        order_by_time(builder, i, std::move(passes));
    }
    builder.update_at_the_end();
    return builder.take();
}

/// ZB-V advances in units: in each, every device runs the pass that its rule selects next, if its
/// input has arrived.
class ZeroBubbleV {
public:
    explicit ZeroBubbleV(const ScheduleShape& shape) :
        p_(shape.devices),
        m_(shape.micro_batches),
        builder_("zb_v", shape.devices, shape.micro_batches, {folded(shape.devices)}),
        forward_end_(2 * p_, std::vector<std::int64_t>(m_, -1)),
        gradient_end_(2 * p_, std::vector<std::int64_t>(m_, -1)),
        devices_(p_) {}

    PipelineSchedule make() {
        std::uint64_t left = std::uint64_t{kCell} * p_ * m_;
        std::uint32_t idle =
            0;  // consecutive units without a pass: after enough of them every message has arrived
        for (std::int64_t now = 0; left > 0; ++now, ++idle) {
            SWITCHFOLD_CHECK(idle < 3, "zb_v of {} devices, {} micro-batches deadlocks", p_, m_);
            for (std::uint32_t i = 0; i < p_; ++i) {
                if (step(i, now)) {
                    --left;
                    idle = 0;
                }
            }
        }
        builder_.update_at_the_end();
        builder_.schedule().no_barrier = true;
        return builder_.take();
    }

private:
    struct Device {
        std::array<std::uint32_t, 2> forwards{};   ///< number done, on the way down and up
        std::array<std::uint32_t, 2> gradients{};  ///< number done
        std::deque<Pass> weights;                  ///< pending
        /// Remaining passes of the current group: forward, input gradient, weight gradient.
        std::deque<PassKind> group;
        std::uint32_t group_way = 1;
        std::uint32_t groups = 0;
    };

    [[nodiscard]] std::uint32_t stage(std::uint32_t device, std::uint32_t way) const {
        return way == 0 ? device : 2 * p_ - 1 - device;
    }
    [[nodiscard]] static bool arrived(std::int64_t end, std::int64_t now) {
        return end >= 0 && end <= now;
    }
    bool forward(std::uint32_t i, std::uint32_t way, std::int64_t now) {
        std::uint32_t& done = devices_[i].forwards[way];
        const std::uint32_t at = stage(i, way);
        if (done == m_ || (at > 0 && !arrived(forward_end_[at - 1][done], now)))
            return false;
        builder_.add(i, PassKind::kForward, done, at);
        forward_end_[at][done++] = now + 1;
        return true;
    }
    bool gradient(std::uint32_t i, std::uint32_t way, std::int64_t now) {
        std::uint32_t& done = devices_[i].gradients[way];
        const std::uint32_t at = stage(i, way);
        if (done == devices_[i].forwards[way])
            return false;
        const auto& needed = at + 1 == 2 * p_ ? forward_end_[at] : gradient_end_[at + 1];
        if (!arrived(needed[done], now))
            return false;
        builder_.add(i, PassKind::kInputGradient, done, at);
        devices_[i].weights.push_back({PassKind::kWeightGradient, done, at});
        gradient_end_[at][done++] = now + 1;
        return true;
    }
    bool weight(std::uint32_t i) {
        std::deque<Pass>& weights = devices_[i].weights;
        if (weights.empty())
            return false;
        builder_.add(i, weights.front().kind, weights.front().micro_batch, weights.front().stage);
        weights.pop_front();
        return true;
    }

    bool step(std::uint32_t i, std::int64_t now) {
        Device& device = devices_[i];
        const std::uint32_t first =
            std::min(2 * p_ - 1 - i, m_);              // forwards of the warm-up on the way down
        const std::uint32_t second = std::min(i, m_);  // and on the way up
        if (device.forwards[0] < first || device.forwards[1] < second) {
            return (device.forwards[1] < second && forward(i, 1, now)) ||
                   (device.forwards[0] < first && forward(i, 0, now));
        }
        if (device.forwards[0] == m_ && device.forwards[1] == m_)
            return gradient(i, 1, now) || gradient(i, 0, now) || weight(i);
        if (device.group.empty())
            begin_group(device, i);
        const PassKind kind = device.group.front();
        const bool ran = kind == PassKind::kForward         ? forward(i, device.group_way, now)
                         : kind == PassKind::kInputGradient ? gradient(i, device.group_way, now)
                                                            : weight(i);
        if (ran)
            device.group.pop_front();
        return ran;
    }
    /// First p - i - 1 groups of the way up, then both ways alternate; when the forwards of one way
    /// are done, the other continues alone.
    void begin_group(Device& device, std::uint32_t i) const {
        const std::uint32_t alone = p_ - 1 - i;
        device.group_way = device.groups < alone || (device.groups - alone) % 2 == 0 ? 1 : 0;
        ++device.groups;
        if (device.forwards[device.group_way] < m_)
            device.group.push_back(PassKind::kForward);
        if (device.gradients[device.group_way] < m_) {
            device.group.push_back(PassKind::kInputGradient);
            device.group.push_back(PassKind::kWeightGradient);
        }
    }

    std::uint32_t p_;
    std::uint32_t m_;
    ScheduleBuilder builder_;
    std::vector<std::vector<std::int64_t>> forward_end_;  ///< by stage and micro-batch; -1: not yet
    std::vector<std::vector<std::int64_t>> gradient_end_;
    std::vector<Device> devices_;
};

}  // namespace

PipelineSchedule v_min(const ScheduleShape& shape) {
    return periodic(shape, "v_min", [](std::int64_t p, std::int64_t i) {
        const std::int64_t g = p % 3 == 0 ? 2 : 0;
        return Beginnings{i, 2 * p - 1 - i, 2 * p + g + i, 4 * p + g - 1 - i};
    });
}

PipelineSchedule v_half(const ScheduleShape& shape) {
    return periodic(shape, "v_half", [](std::int64_t p, std::int64_t i) {
        const std::int64_t g = p % 2 == 0 ? 3 : 0;
        return Beginnings{2 * i, 3 * p - 2 - i, 3 * p + g + 2 * i - 1, 6 * p + g - 2 - i};
    });
}

PipelineSchedule zero_bubble_v(const ScheduleShape& shape) {
    return ZeroBubbleV(shape).make();
}

}  // namespace switchfold

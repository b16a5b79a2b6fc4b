// SPDX-License-Identifier: Apache-2.0
// Pipelines that run both ways through the same devices at once.
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/schedule_builder.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

namespace switchfold {

namespace {

std::vector<std::uint32_t> reversed(std::uint32_t devices) {
    std::vector<std::uint32_t> route = straight(devices);
    std::reverse(route.begin(), route.end());
    return route;
}

/// One device of DualPipe: passes of index 0 run in its own direction, those of index 1 in the
/// other.
class DualDevice {
public:
    struct Way {
        std::uint32_t stage;
        std::uint32_t first_micro_batch;
    };

    DualDevice(ScheduleBuilder& builder, std::uint32_t device, std::array<Way, 2> ways) :
        builder_(builder), device_(device), ways_(ways) {}

    void forward(int way) { add(next_forward(way)); }
    void backward(int way) { add(next_backward(way, PassKind::kBackward)); }
    /// Queues the weight gradient.
    void input_gradient(int way) {
        const Pass pass = next_backward(way, PassKind::kInputGradient);
        add(pass);
        queue_.push_back({PassKind::kWeightGradient, pass.micro_batch, pass.stage});
    }
    void weight_gradient() {
        add(queue_.front());
        queue_.pop_front();
    }
    void together(int forward_way, int backward_way) {
        const Pass forward = next_forward(forward_way);
        builder_.together(device_, forward, next_backward(backward_way, PassKind::kBackward));
    }

private:
    void add(const Pass& pass) { builder_.add(device_, pass.kind, pass.micro_batch, pass.stage); }
    Pass next_forward(int way) { return next(way, PassKind::kForward, forwards_); }
    Pass next_backward(int way, PassKind kind) { return next(way, kind, backwards_); }
    Pass next(int way, PassKind kind, std::array<std::uint32_t, 2>& done) {
        const auto index = static_cast<std::size_t>(way);
        const Way& at = ways_[index];
        return {kind, at.first_micro_batch + done[index]++, at.stage};
    }

    ScheduleBuilder& builder_;
    std::uint32_t device_;
    std::array<Way, 2> ways_;
    std::array<std::uint32_t, 2> forwards_{};
    std::array<std::uint32_t, 2> backwards_{};
    std::deque<Pass> queue_;
};

/// The eight steps of deepseek-ai/DualPipe. `rank` counts from the device's own end, `half` is the
/// number of devices up to the middle, `main` the number of overlapped pairs.
void dual_order(DualDevice& device, std::uint32_t rank, std::uint32_t half, std::uint32_t main) {
    const std::uint32_t inner = half - rank - 1;
    for (std::uint32_t i = 0; i < 2 * inner; ++i)
        device.forward(0);
    for (std::uint32_t i = 0; i < rank + 1; ++i) {
        device.forward(0);
        device.forward(1);
    }
    for (std::uint32_t i = 0; i < inner; ++i) {
        device.input_gradient(1);
        device.weight_gradient();
        device.forward(1);
    }
    for (std::uint32_t i = 0; i < main; ++i) {
        if (i == 0 &&
            inner == 0) {  // in the middle, the other direction's input is this pass's output
            device.forward(0);
            device.backward(1);
        } else {
            device.together(0, 1);
        }
        device.together(1, 0);
    }
    for (std::uint32_t i = 0; i < inner; ++i) {
        device.backward(1);
        device.together(1, 0);
    }
    const std::uint32_t last = rank + 1;
    for (std::uint32_t i = 0; i < last; ++i) {
        for (const int way : {1, 0}) {
            // From the middle on, weight gradients are deferred; with an odd number, the middle
            // lies between the two directions.
            const bool waits = 2 * i + (way == 0 ? 1U : 0U) >= last;
            if (waits)
                device.input_gradient(way);
            else
                device.backward(way);
        }
    }
    for (std::uint32_t i = 0; i < inner; ++i) {
        device.weight_gradient();
        device.input_gradient(0);
    }
    for (std::uint32_t i = 0; i < last; ++i)
        device.weight_gradient();
}

}  // namespace

/// Li and Hoefler, Chimera (2021). Each direction runs half of the micro-batches by 1F1B, one every
/// two units of time, so that its passes use units that the other direction leaves free. More than
/// `devices` micro-batches are concatenated in rounds.
PipelineSchedule chimera(const ScheduleShape& shape) {
    const std::uint32_t d = shape.devices;
    ScheduleBuilder builder("chimera", d, shape.micro_batches, {straight(d), reversed(d)});
    std::vector<std::uint32_t>& route_of = builder.schedule().route_of;
    for (std::uint32_t j = 0; j < shape.micro_batches; ++j)
        route_of.push_back(j % 2);
    for (std::uint32_t device = 0; device < d; ++device) {
        std::vector<TimedPass> passes;
        for (std::uint32_t j = 0; j < shape.micro_batches; ++j) {
            const std::uint32_t stage = route_of[j] == 0 ? device : d - 1 - device;
            const std::int64_t begin = 2 * std::int64_t{d} * (j / d) + j % d / 2 * 2;
            passes.push_back({begin + stage, {PassKind::kForward, j, stage}});
            passes.push_back({begin + 2 * d - 1 - stage, {PassKind::kBackward, j, stage}});
        }
        order_by_time(builder, device, std::move(passes));
    }
    builder.update_at_the_end();
    return builder.take();
}

/// DeepSeek-AI, DualPipe (2025): half of the micro-batches from each end.
PipelineSchedule dual_pipe(const ScheduleShape& shape) {
    const std::uint32_t p = shape.devices;
    const std::uint32_t each = shape.micro_batches / 2;
    ScheduleBuilder builder("dualpipe", p, shape.micro_batches, {straight(p), reversed(p)});
    std::vector<std::uint32_t>& route_of = builder.schedule().route_of;
    route_of.assign(shape.micro_batches, 0);
    std::fill(route_of.begin() + each, route_of.end(), 1U);
    for (std::uint32_t device = 0; device < p; ++device) {
        const DualDevice::Way down{device, 0};
        const DualDevice::Way up{p - 1 - device, each};
        const bool near = device < p / 2;
        const std::uint32_t rank = near ? device : p - 1 - device;
        DualDevice dual(builder, device, near ? std::array{down, up} : std::array{up, down});
        dual_order(dual, rank, p / 2, each - p + rank + 1);
    }
    builder.update_at_the_end();
    return builder.take();
}

/// DualPipe cut in half: both directions become the two halves of one route.
PipelineSchedule dual_pipe_v(const ScheduleShape& shape) {
    const std::uint32_t p = shape.devices;
    ScheduleBuilder builder("dualpipe_v", p, shape.micro_batches, {folded(p)});
    for (std::uint32_t device = 0; device < p; ++device) {
        DualDevice dual(
            builder, device, {DualDevice::Way{device, 0}, DualDevice::Way{2 * p - 1 - device, 0}});
        dual_order(dual, device, p, shape.micro_batches - 2 * p + device + 1);
    }
    builder.update_at_the_end();
    return builder.take();
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/planned_devices.h"

#include "core/error.h"
#include "training/memory/compare/largest_batch.h"
#include "training/memory/step/gathers.h"
#include "training/memory/step/planned_offload.h"
#include "training/memory/step/step_copies.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/step/recomputed_layers.h"

#include <algorithm>
#include <array>
#include <utility>

namespace switchfold {

namespace {

/// Whole gradients before replicas have scattered them: two buckets, or all of them where they
/// travel after the backward pass.
double whole_gradients(const TrainingStep& step, std::uint32_t device) {
    const ParallelPlan& plan = step.plan();
    if (plan.sharding < Sharding::kGradients)
        return 0;
    double sum = 0;
    double largest = static_cast<double>(std::max(plan.bucket, plan.first_bucket).count());
    for (const std::uint32_t stage : step.schedule().stages_on(device))
        for (std::uint32_t layer = step.work().first(stage); layer < step.work().end(stage);
             ++layer) {
            const double bytes =
                step.work().layers().parameters(layer) * element_bytes(plan.gradient);
            sum += bytes;
            largest = std::max(largest, bytes);
        }
    return plan.overlap_gradients ? std::min(sum, 2 * largest) : sum;
}

NetworkScheduleOptions options_of(
    const TrainingStep& step, std::uint32_t device, const MemoryChoice& choice,
    const NetworkScheduleOptions& common) {
    NetworkScheduleOptions options = common;
    options.gradients_apart = true;
    options.weights_travel = choice.weights_travel;
    options.passes = device_passes(step.schedule(), step.work(), device);
    options.again.clear();
    for (const std::uint32_t stage : step.schedule().stages_on(device)) {
        const std::vector<LayerRange> again = recomputed_layers(
            step.network(), step.plan(), step.work().first(stage), step.work().end(stage));
        options.again.insert(options.again.end(), again.begin(), again.end());
    }
    return options;
}

/// Sets aside what stays on the device, and plans the rest.
void lay_out(StepMemory& planned, const TrainingStep& step, std::uint32_t device) {
    planned.schedule =
        network_schedule(planned.facts.held, planned.facts.options, planned.facts.times);
    const MemoryBytes held = held_all_along(step)[device];
    double weights = held[MemoryClass::kWeights];
    for (const MemoryItem& item : planned.schedule.items)
        if (item.kind == MemoryClass::kWeights)
            weights -= static_cast<double>(item.bytes);
    planned.gradients = bytes_of(
                            held[MemoryClass::kGradients] + held[MemoryClass::kBuckets] +
                            whole_gradients(step, device))
                            .count();
    planned.shadow =
        bytes_of(gathered_bytes(step.work(), step.schedule().stages_on(device))).count();
    planned.schedule.resident_bytes =
        bytes_of(std::max(0.0, weights)).count() + planned.gradients + planned.shadow;
    planned.plan = retain(planned.choice, planned.schedule);
}

StepMemory planned_device(
    const TrainingStep& step, std::uint32_t device, const MemoryChoice& choice,
    const MemoryFacts& common) {
    StepMemory planned;
    planned.choice = choice;
    planned.facts = common;
    planned.facts.options = options_of(step, device, choice, common.options);
    lay_out(planned, step, device);
    return planned;
}

/// A rank's copies, around the layers that its writer writes.
class DeviceCopies : public LayerMemory {
public:
    DeviceCopies(const StepMemory& planned, MemoryBytes gradients) :
        moves_(planned), gradients_(gradients) {}

    void before(PassWriter& writer, std::size_t lane, std::uint32_t layer, Phase phase) override {
        if (!copies_)
            copies_.emplace(moves_, writer);
        const std::vector<LayerUse>& steps = moves_.memory.schedule.steps;
        SWITCHFOLD_CHECK(
            copies_->at() < steps.size() && steps[copies_->at()].layer == layer,
            "layer {} is not the one that the memory plan has next", layer);
        data_ = copies_->prefetch(phase);
        for (const PassWriter::Index wait : data_)
            writer.wait_for(lane, wait);
        first_ = writer.next();
    }

    void after(PassWriter& writer, std::size_t lane, Phase phase) override {
        // What the lane waits for beside the layer, as gathered weights of the next, does not
        // count.
        std::vector<PassWriter::Index>& last = ended_[lane];
        std::vector<PassWriter::Index> ended = writer.ends(lane);
        std::erase_if(ended, [&](PassWriter::Index index) { return index < first_; });
        if (ended.empty())  // the layer has no operation
            last.insert(last.end(), data_.begin(), data_.end());
        else
            last = std::move(ended);
        copies_->laid(first_, last);
        // A step frees its room and that of the steps before, on either lane.
        std::vector<PassWriter::Index> both = last;
        both.insert(both.end(), ended_[1 - lane].begin(), ended_[1 - lane].end());
        copies_->offload(last, std::move(both), phase);
    }

    void end() override {
        SWITCHFOLD_CHECK(
            copies_ && copies_->at() == moves_.memory.schedule.steps.size(),
            "a memory plan of more steps than were written");
        copies_->memory(gradients_);
    }

private:
    PlannedMoves moves_;
    MemoryBytes gradients_;
    std::optional<StepCopies> copies_;
    PassWriter::Index first_ = 0;
    std::vector<PassWriter::Index> data_;  ///< what the layer waits for
    std::array<std::vector<PassWriter::Index>, 2>
        ended_;  ///< by lane: ends of its last layer that had operations
};

}  // namespace

bool has_parts(const ParallelPlan& plan) {
    return plan.pipeline > 1 || plan.context > 1 || plan.expert > 1 ||
           plan.sharding >= Sharding::kGradients;
}

std::string PlannedDevices::add(const TrainingStep& step, const MemoryChoice& choice) {
    std::vector<StepMemory>& devices = steps_.emplace_back(OfStep{&step, {}}).devices;
    const MemoryFacts common = memory_facts(step.network(), step.times(), step.plan());
    for (std::uint32_t device = 0; device < step.schedule().devices(); ++device) {
        devices.push_back(planned_device(step, device, choice, common));
        if (const std::string& why = devices.back().plan.refusal; !why.empty())
            return why;
    }
    return {};
}

const std::vector<StepMemory>& PlannedDevices::devices(const TrainingStep& step) const {
    const auto found = std::find_if(
        steps_.begin(), steps_.end(), [&](const OfStep& one) { return one.step == &step; });
    SWITCHFOLD_CHECK(found != steps_.end(), "a step without planned memory");
    return found->devices;
}

const StepMemory& PlannedDevices::busiest() const {
    const StepMemory* most = nullptr;
    for (const auto& [step, devices] : steps_)
        for (const StepMemory& device : devices)
            if (most == nullptr || device.plan.moved_bytes() > most->plan.moved_bytes())
                most = &device;
    SWITCHFOLD_CHECK(most != nullptr, "no device has planned memory");
    return *most;
}

std::unique_ptr<LayerMemory>
PlannedDevices::of(const TrainingStep& step, std::uint32_t device) const {
    const MemoryBytes held = held_all_along(step)[device];
    MemoryBytes gradients;
    for (const MemoryClass what : {MemoryClass::kGradients, MemoryClass::kBuckets})
        gradients[what] = held[what];
    return std::make_unique<DeviceCopies>(devices(step)[device], gradients);
}

std::uint32_t largest_micro_batch(const TrainingStep& step, const MemoryChoice& choice) {
    const MemoryFacts common = memory_facts(step.network(), step.times(), step.plan());
    return largest_batch(step.plan().micro_batch, [&](std::uint32_t batch) {
        MemoryFacts facts = common;
        facts.options.batch = batch;
        for (std::uint32_t device = 0; device < step.schedule().devices(); ++device)
            if (!planned_device(step, device, choice, facts).plan.refusal.empty())
                return false;
        return true;
    });
}

}  // namespace switchfold

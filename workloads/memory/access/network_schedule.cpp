// SPDX-License-Identifier: Apache-2.0
#include "workloads/memory/access/network_schedule.h"

#include "sim/core/error.h"
#include "workloads/plan/step/kept_tensors.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace switchfold {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class Writer {
public:
    Writer(
        const Network& network,
        const NetworkScheduleOptions& options,
        std::span<const LayerTimes> times) :
        network_(network), options_(options), times_(times), layers_(network.layers.size()) {}

    AccessSchedule take() {
        schedule_.name = network_.name;
        for (std::uint32_t i = 0; i < layers_.size(); ++i)
            if (const auto shared = network_.layers[i].shares)
                layers_[owner(*shared)].shared = true;
        for (std::uint32_t i = 0; i < layers_.size(); ++i)
            add_items(i);
        for (std::uint32_t i = 0; i < layers_.size(); ++i)
            forward(i);
        for (std::uint32_t i = size(); i-- > 0;) {
            backward(i);
            if (!options_.updates_behind.empty())
                for (const std::uint32_t owner : options_.updates_behind[i])
                    update(owner);
        }
        if (!options_.update_in_backward && options_.updates_behind.empty())
            for (std::uint32_t i = 0; i < layers_.size(); ++i)
                update(i);
        if (!options_.updates_behind.empty())
            stay_over_updates();
        count_copies(schedule_);
        return std::move(schedule_);
    }

private:
    /// Items of a layer; kNone if it has none.
    struct Items {
        std::uint32_t input = kNone;  ///< the part of its input that is the network's own input
        std::uint32_t output = kNone;
        std::uint32_t mask = kNone;
        std::uint32_t output_gradient = kNone;
        std::uint32_t weights = kNone;
        std::uint32_t gradient = kNone;
        std::uint32_t moments = kNone;
        bool shared = false;  ///< another layer uses the same weights
    };

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(layers_.size()); }
    [[nodiscard]] std::uint32_t owner(std::uint32_t layer) const {
        while (const auto shared = network_.layers[layer].shares)
            layer = *shared;
        return layer;
    }
    [[nodiscard]] LayerTimes times(std::uint32_t layer) const {
        return times_.empty() ? LayerTimes{} : times_[layer];
    }

    std::uint32_t add(const std::string& name, MemoryClass kind, std::uint64_t bytes) {
        MemoryItem item{name, kind, bytes};
        item.persistent = kind == MemoryClass::kWeights || kind == MemoryClass::kMoments;
        schedule_.items.push_back(std::move(item));
        return static_cast<std::uint32_t>(schedule_.items.size() - 1);
    }

    void add_items(std::uint32_t i) {
        const Layer& layer = network_.layers[i];
        Items& items = layers_[i];
        const std::uint64_t out = layer.out_elements * options_.batch;
        std::uint64_t produced = 0;
        for (const std::uint32_t input : layer.inputs)
            produced += network_.layers[input].out_elements;
        if (layer.in_elements > produced)
            items.input =
                add("input of " + layer.name,
                    MemoryClass::kActivations,
                    (layer.in_elements - produced) * options_.batch * options_.element);
        items.output = add(layer.name, MemoryClass::kActivations, out * options_.element);
        if (kept_tensors(layer).mask)
            items.mask = add("mask of " + layer.name, MemoryClass::kActivations, out);
        items.output_gradient = add(
            "gradient of " + layer.name, MemoryClass::kWorkspace, out * options_.element);
        if (layer.parameters > 0)
            add_weights(i);
    }

    void add_weights(std::uint32_t i) {
        const Layer& layer = network_.layers[i];
        Items& items = layers_[i];
        if (options_.weights_travel)
            items.weights =
                add("weights of " + layer.name,
                    MemoryClass::kWeights,
                    layer.parameters * options_.element);
        else
            schedule_.resident_bytes += layer.parameters * options_.element;
        const std::uint64_t gradient = layer.parameters * options_.gradient;
        if (options_.update_in_backward && items.shared && !options_.gradients_apart) {
            schedule_.resident_bytes += gradient;
        } else if (!options_.gradients_apart) {
            items.gradient =
                add("weight gradient of " + layer.name, MemoryClass::kGradients, gradient);
            schedule_.items.back().scratch = options_.update_in_backward;
        }
        if (options_.moments > 0)
            items.moments =
                add("moments of " + layer.name,
                    MemoryClass::kMoments,
                    layer.parameters * options_.moments);
    }

    static void open(AccessStep& step, std::uint32_t item, bool writes) {
        if (item == kNone)
            return;
        const auto found =
            std::find_if(step.open.begin(), step.open.end(), [&](const ItemAccess& access) {
                return access.item == item;
            });
        if (found == step.open.end())
            step.open.push_back({item, writes});
        else
            found->writes = found->writes || writes;
    }

    void open_weights(AccessStep& step, std::uint32_t i, bool writes) {
        open(step, layers_[i].weights, writes);
        if (const auto shared = network_.layers[i].shares)
            open(step, layers_[owner(*shared)].weights, writes);
    }

    void forward(std::uint32_t i) {
        const Layer& layer = network_.layers[i];
        AccessStep step{"F " + layer.name, StepKind::kForward, times(i).forward, {}, i};
        open_weights(step, i, false);
        open(step, layers_[i].input, false);
        for (const std::uint32_t input : layer.inputs)
            open(step, layers_[input].output, false);
        open(step, layers_[i].output, true);
        open(step, layers_[i].mask, true);
        schedule_.steps.push_back(std::move(step));
    }

    void backward(std::uint32_t i) {
        const Layer& layer = network_.layers[i];
        const KeptTensors kept = kept_tensors(layer);
        const LayerTimes t = times(i);
        AccessStep step{
            "B " + layer.name, StepKind::kBackward, t.input_gradient + t.weight_gradient, {}, i};
        const auto read = [&](std::uint32_t item) {
            open(step, item, false);
            if (item != kNone && layer.type == "conv")
                schedule_.items[item].read_by_convolution = true;
        };
        if (kept.input) {
            read(layers_[i].input);
            for (const std::uint32_t input : layer.inputs)
                read(layers_[input].output);
        }
        if (kept.output)
            open(step, layers_[i].output, false);
        open(step, layers_[i].mask, false);
        open(step, layers_[i].output_gradient, i + 1 == layers_.size());
        for (const std::uint32_t input : layer.inputs)
            open(step, layers_[input].output_gradient, true);
        const bool updates = options_.update_in_backward && layer.parameters > 0;
        open_weights(step, i, updates);
        open(step, layers_[i].gradient, true);
        if (const auto shared = layer.shares)
            open(step, layers_[owner(*shared)].gradient, true);
        if (updates) {
            open(step, layers_[i].moments, true);
            step.seconds += t.update;
        }
        schedule_.steps.push_back(std::move(step));
    }

    void update(std::uint32_t i) {
        const Layer& layer = network_.layers[i];
        if (layer.parameters == 0)
            return;
        AccessStep step{"U " + layer.name, StepKind::kUpdate, times(i).update, {}, i};
        open(step, layers_[i].weights, true);
        open(step, layers_[i].gradient, false);
        open(step, layers_[i].moments, true);
        schedule_.steps.push_back(std::move(step));
    }

    /// Keeps items open during updates that run between two steps of a pass if both steps have them
    /// open, as without updates.
    void stay_over_updates() {
        std::vector<AccessStep>& steps = schedule_.steps;
        const auto updates = [&](std::size_t at) { return steps[at].kind == StepKind::kUpdate; };
        for (std::size_t at = 1; at < steps.size(); ++at) {
            if (!updates(at))
                continue;
            std::size_t next = at;
            while (next < steps.size() && updates(next))
                ++next;
            if (next == steps.size())
                return;
            const std::vector<ItemAccess>& after = steps[next].open;
            for (const ItemAccess& before : steps[at - 1].open)
                if (std::any_of(after.begin(), after.end(), [&](const ItemAccess& access) {
                        return access.item == before.item;
                    }))
                    open(steps[at], before.item, false);
        }
    }

    const Network& network_;
    const NetworkScheduleOptions& options_;
    std::span<const LayerTimes> times_;
    std::vector<Items> layers_;
    AccessSchedule schedule_;
};

}  // namespace

AccessSchedule network_schedule(
    const Network& network,
    const NetworkScheduleOptions& options,
    std::span<const LayerTimes> times) {
    SWITCHFOLD_CHECK(
        times.empty() || times.size() == network.layers.size(),
        "{} times for {} layers",
        times.size(),
        network.layers.size());
    return Writer(network, options, times).take();
}

}  // namespace switchfold

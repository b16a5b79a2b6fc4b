// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/accounting_rows.h"

#include "core/error.h"
#include "training/memory/access/network_schedule.h"
#include "training/memory/accounting/liveness.h"
#include "training/memory/accounting/zero.h"
#include "validation/memory/named_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace switchfold::validation {

namespace {

constexpr double kGB = 1e9;
constexpr double kMebi = 1024.0 * 1024.0;

TensorUses schedule_of(std::string_view name, std::uint32_t batch) {
    NetworkScheduleOptions options;
    options.batch = batch;
    return network_schedule(network_named(name), options);
}

const LayerUse& step_named(const TensorUses& schedule, std::string_view name) {
    const auto found =
        std::find_if(schedule.steps.begin(), schedule.steps.end(), [&](const LayerUse& step) {
            return step.name == name;
        });
    SWITCHFOLD_CHECK(found != schedule.steps.end(), "no step {}", name);
    return *found;
}

double open_bytes(const TensorUses& schedule, std::string_view step) {
    double sum = 0;
    for (const ItemAccess& access : step_named(schedule, step).open)
        sum += static_cast<double>(schedule.items[access.item].bytes);
    return sum;
}

/// vDNN's X in bytes: inputs and outputs of convolutions and pools, with ReLU in place, and the
/// image.
double feature_maps(std::string_view name, std::uint32_t batch) {
    const Network network = network_named(name);
    double elements = static_cast<double>(network.layers.front().in_elements);
    for (const Layer& layer : network.layers)
        if (layer.type == "conv" || layer.type == "maxpool")
            elements += static_cast<double>(layer.out_elements);
    return elements * batch * kSingle;
}

double largest_output(std::string_view name) {
    std::uint64_t most = 0;
    for (const Layer& layer : network_named(name).layers)
        most = std::max(most, layer.out_elements);
    return static_cast<double>(most) * kSingle;
}

/// X, the outputs of linear layers and the two largest gradients of a sample.
double vgg19_sample() {
    double linear = 0;
    for (const Layer& layer : network_named("vgg19").layers)
        if (layer.type == "linear")
            linear += static_cast<double>(layer.out_elements) * kSingle;
    return feature_maps("vgg19", 1) + linear + 2 * largest_output("vgg19");
}

double weights_of(std::string_view name) {
    return static_cast<double>(parameters(network_named(name))) * kSingle;
}

/// Bytes kept for backward when it begins: all live data except weights and moments.
double activations_at_backward(std::string_view name) {
    NetworkScheduleOptions options;
    options.update_in_backward = true;
    const TensorUses schedule = network_schedule(network_named(name), options);
    const auto first =
        std::find_if(schedule.steps.begin(), schedule.steps.end(), [](const LayerUse& step) {
            return step.kind == UseKind::kBackward;
        });
    double fixed = static_cast<double>(schedule.resident_bytes);
    for (const MemoryItem& item : schedule.items)
        fixed += item.persistent ? static_cast<double>(item.bytes) : 0;
    const auto live = live_bytes(schedule);
    return static_cast<double>(live[static_cast<std::size_t>(first - schedule.steps.begin())]) -
           fixed;
}

// ZeRO-Infinity's example: 5 T parameters on 512 V100, batch 3 per GPU, sequences of 1,024.
constexpr double kPeak = 70e12;
constexpr double kTokens = 1024;
constexpr double kSamples = 3;
constexpr double kGpuLink = 70e9;
constexpr double kNvme = 512 * 1.6e9;  // of all nodes together: each holds its shard of the states

double lost_by_parameters() {
    return 1 - unhidden_efficiency(intensity_of_parameters(kTokens, kSamples), kGpuLink, kPeak);
}
double lost_by_optimizer() {
    return 1 - unhidden_efficiency(intensity_of_optimizer(kTokens, kSamples), kNvme, kPeak);
}

struct Rule {
    double (*value)();
    const char* how;
};

const std::map<std::string, Rule, std::less<>>& rules() {
    static const std::map<std::string, Rule, std::less<>> kRules{
        {"backward_of_lrn1",
         {[] { return open_bytes(schedule_of("alexnet_one_tower_227", 200), "B lrn1") / kMebi; },
          "what backward of LRN 1 has open"}},
        {"feature_maps", {[] { return feature_maps("vgg16", 256) / kGB; }, "all X"}},
        {"forward_of_first_relu",
         {[] { return open_bytes(schedule_of("vgg16", 228), "F features.relu0") / kGB; },
          "what forward of the first ReLU has open"}},
        {"vgg19_sample", {[] { return vgg19_sample() / 1e6; }, "X and the two largest dX"}},
        {"largest_batch_keeping_all",
         {[] { return std::floor((16e9 - 2 * weights_of("vgg19")) / vgg19_sample()); },
          "16e9 bytes less weights and gradients; 16 GiB would give 174"}},
        {"states",
         {[] {
              return double{state_bytes_on_gpu({false, false})};
          },
          "p16, g16 and 12"}},
        {"states_without_gradients",
         {[] {
              return double{state_bytes_on_gpu({true, false})};
          },
          "p16 and 12"}},
        {"states_without_update",
         {[] {
              return double{state_bytes_on_gpu({false, true})};
          },
          "p16 and g16"}},
        {"states_of_weights",
         {[] {
              return double{state_bytes_on_gpu({true, true})};
          },
          "p16"}},
        {"lost_by_parameters", {lost_by_parameters, "its formula, 70 GB/s"}},
        {"lost_by_optimizer", {lost_by_optimizer, "its formula, 512 x 1.6 GB/s"}},
        {"updated_after_backward",
         {[] { return 5 * weights_of("vit_l_16") / kGB; },
          "weights, gradients, two moments, temporaries"}},
        {"updated_inside_backward",
         {[] { return (3 * weights_of("vit_l_16") + activations_at_backward("vit_l_16")) / kGB; },
          "weights, two moments, activations of our own shapes"}}};
    return kRules;
}

}  // namespace

bool AccountingRows::knows(const MemoryRow& row) {
    return rules().contains(row.rule);
}

std::string AccountingRows::answer(const MemoryRow& row, Case& c) {
    const auto found = rules().find(row.rule);
    if (found == rules().end())
        return "no rule of its source is known for it";
    c.simulated = found->second.value();
    c.how = found->second.how;
    const bool states = row.rule.starts_with("states");
    const bool exact = row.is_derived() && row.rule == "backward_of_lrn1";
    c.group = states             ? "bytes a parameter"
              : row.is_derived() ? "bytes and shares from shapes"
                                 : "published beside ours";
    if (states) {
        ++states_;
        states_wrong_ += c.simulated == c.measured ? 0 : 1;
    } else if (exact) {
        largest_layer_ = std::abs(c.error());  // agrees to the table's last digit
    }
    if (row.is_derived()) {
        ++derived_;
        worst_derived_ = std::max(worst_derived_, std::abs(c.error()));
    }
    return {};
}

void AccountingRows::verdicts(SuiteResult& result) const {
    if (derived_ > 0) {
        result.verdicts.push_back(
            {fmt::format("{} rows from shapes: largest error", derived_), worst_derived_, 0.03});
        result.verdicts.push_back(
            {"largest layer of SuperNeurons' AlexNet: error", largest_layer_, 1e-5});
    }
    if (states_ > 0)
        result.verdicts.push_back(
            {fmt::format("{} rows of bytes a parameter: share of those that differ", states_),
             static_cast<double>(states_wrong_) / static_cast<double>(states_), 0});
}

}  // namespace switchfold::validation

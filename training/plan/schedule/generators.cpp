// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace switchfold {

namespace {

std::string anything_goes(const ScheduleShape& /*shape*/) {
    return {};
}

std::string whole_rounds(const ScheduleShape& shape) {
    if (shape.micro_batches % shape.devices == 0)
        return {};
    return fmt::format(
        "{} micro-batches; expected a multiple of the {} devices", shape.micro_batches,
        shape.devices);
}

std::string even_ways(const ScheduleShape& shape) {
    if (shape.devices % 2 == 0 && shape.micro_batches % 2 == 0)
        return {};
    return fmt::format(
        "{} devices and {} micro-batches; expected even numbers, half of each go either way",
        shape.devices, shape.micro_batches);
}

std::string twice_the_devices(const ScheduleShape& shape) {
    if (shape.micro_batches >= 2 * shape.devices)
        return {};
    return fmt::format(
        "{} micro-batches; expected at least twice the {} devices", shape.micro_batches,
        shape.devices);
}

std::string enough_for_both_ways(const ScheduleShape& shape) {
    std::string odd = even_ways(shape);
    return odd.empty() ? twice_the_devices(shape) : odd;
}

std::string replicas_fit(const ScheduleShape& shape) {
    if (shape.replicas.empty())
        return {};
    const std::uint32_t total =
        std::accumulate(shape.replicas.begin(), shape.replicas.end(), std::uint32_t{0});
    if (total == shape.devices &&
        std::find(shape.replicas.begin(), shape.replicas.end(), 0U) == shape.replicas.end())
        return {};
    return fmt::format(
        "stages on {} devices together; expected {}, at least one each", total, shape.devices);
}

std::string updates_rarely(const ScheduleShape& shape) {
    if (shape.update_every >= shape.devices)
        return {};
    return fmt::format(
        "an update every {} micro-batches; two versions of the weights need at least {}",
        shape.update_every, shape.devices);
}

constexpr std::array kGenerators{
    ScheduleGenerator{
        "gpipe", "All forwards, then all backwards in reverse.", 1, false, false, anything_goes,
        gpipe},
    ScheduleGenerator{
        "1f1b", "One forward, one backward, then a flush (PipeDream-Flush, DAPPLE).", 1, false,
        false, anything_goes, one_forward_one_backward},
    ScheduleGenerator{
        "interleaved_1f1b", "1F1B over several stages a device, as Megatron-LM orders them.", 0,
        false, false, whole_rounds, interleaved_1f1b},
    ScheduleGenerator{
        "zb_h1", "Weight gradients fill gaps; no more activations than 1F1B.", 1, false, false,
        anything_goes, zero_bubble_h1},
    ScheduleGenerator{
        "zb_h2", "Weight gradients fill nearly all gaps; twice the activations.", 1, false, false,
        anything_goes, zero_bubble_h2},
    ScheduleGenerator{
        "zb_1p", "Searched for the times of the passes, with the activations of 1F1B.", 1, false,
        false, anything_goes, zero_bubble_1p},
    ScheduleGenerator{
        "zb_2p", "Searched for the times of the passes, with twice the activations of 1F1B.", 1,
        false, false, anything_goes, zero_bubble_2p},
    ScheduleGenerator{
        "zb_v",
        "Two stages a device, down and back: no gaps with equal passes, activations of 1F1B.", 2,
        false, false, anything_goes, zero_bubble_v},
    ScheduleGenerator{
        "v_half", "As zb_v with half of the activations.", 2, false, false, anything_goes, v_half},
    ScheduleGenerator{
        "v_min", "As zb_v with a third of the activations.", 2, false, false, anything_goes, v_min},
    ScheduleGenerator{
        "chimera",
        "Two pipelines, one each way, each with half of the micro-batches and all weights.", 1,
        false, false, even_ways, chimera},
    ScheduleGenerator{
        "dualpipe", "As chimera with forwards beside backwards and weight gradients in the gaps.",
        1, false, false, enough_for_both_ways, dual_pipe},
    ScheduleGenerator{
        "dualpipe_v", "DualPipe on half of the devices, two stages each: one copy of the weights.",
        2, false, false, twice_the_devices, dual_pipe_v},
    ScheduleGenerator{
        "1f1b_async",
        "1F1B that is never drained; every stage updates after each backward (PipeDream).", 1, true,
        true, replicas_fit, asynchronous_1f1b},
    ScheduleGenerator{
        "1f1b_double_buffered",
        "1F1B that is never drained, with two versions of the weights (PipeDream-2BW).", 1, true,
        true, updates_rarely, double_buffered_1f1b},
    ScheduleGenerator{
        "two_batches",
        "The forward of one mini-batch beside the backward of another on every device, never "
        "drained.",
        1, true, false, anything_goes, two_batches_at_once},
};

}  // namespace

std::span<const ScheduleGenerator> schedule_generators() {
    return kGenerators;
}

const ScheduleGenerator* find_schedule(std::string_view name) {
    const auto* found = std::find_if(
        kGenerators.begin(), kGenerators.end(),
        [&](const ScheduleGenerator& generator) { return generator.name == name; });
    return found == kGenerators.end() ? nullptr : found;
}

std::uint32_t stages_of(const ScheduleGenerator& generator, const ScheduleShape& shape) {
    if (generator.replicates && !shape.replicas.empty())
        return static_cast<std::uint32_t>(shape.replicas.size());
    return shape.devices * (generator.chunks == 0 ? shape.chunks : generator.chunks);
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "models/coprocessor/program/autoencoder.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

class WorkloadKind;

template <>
struct EnumNames<offload::Strategy> {
    static constexpr std::array<std::pair<offload::Strategy, std::string_view>, 2> kNames{
        {{offload::Strategy::kTwoLevel, "two_level"}, {offload::Strategy::kLibrary, "library"}}};
};
template <>
struct EnumNames<offload::GradientSum> {
    static constexpr std::array<std::pair<offload::GradientSum, std::string_view>, 2> kNames{
        {{offload::GradientSum::kAtomics, "atomics"}, {offload::GradientSum::kCopies, "copies"}}};
};

/// Training of a deep autoencoder on a many-core coprocessor or on its host (docs/coprocessor.md).
struct ManyCoreParams {
    static constexpr std::string_view kType = "many_core";
    std::string on;
    std::vector<std::uint32_t> widths;
    std::uint32_t batch = 0;
    std::uint32_t steps = 16;
    std::uint32_t steps_per_chunk = 4;
    std::uint32_t buffers = 2;
    offload::Strategy strategy = offload::Strategy::kTwoLevel;
    offload::GradientSum gradients = offload::GradientSum::kCopies;
    bool recompute = false;
    bool returns_code = false;
    std::optional<std::uint32_t> cores;
    std::optional<std::uint32_t> threads_per_core;
    std::uint32_t nested_threads = 1;
    std::optional<std::uint32_t> team_cores;
    std::optional<std::uint32_t> copies_at_once;
    static constexpr auto fields() {
        using P = ManyCoreParams;
        return list_of(
            field(
                "on", &P::on,
                "Name of the system's device that computes; empty: the first coprocessor, or else "
                "the first device."),
            field(
                "widths", &P::widths,
                "Neurons of the encoder's layers, from the input to the code; the decoder mirrors "
                "them.",
                1U, 1'048'576U)
                .required(),
            field("batch", &P::batch, "Samples of a mini-batch.", 1U, 1'048'576U).required(),
            field("steps", &P::steps, "Mini-batches that are run.", 1U, 65'536U),
            field(
                "steps_per_chunk", &P::steps_per_chunk,
                "Mini-batches per transfer to the coprocessor.", 1U, 65'536U),
            field(
                "buffers", &P::buffers,
                "Chunk buffers on the coprocessor, including the one in use.", 1U, 64U),
            field(
                "strategy", &P::strategy,
                "two_level: hand-written loops with the mini-batch over cores, neurons over a "
                "core's threads and lanes, and one parallel region per layer; library: one library "
                "matrix product per layer and direction."),
            field(
                "gradients", &P::gradients,
                "How two_level sums the teams' gradients: atomics, on one array; copies, one array "
                "per team and a tree."),
            field(
                "recompute", &P::recompute,
                "Discard the encoder's activations and run its forward pass again before its "
                "backward pass."),
            field(
                "returns_code", &P::returns_code,
                "Each sample's code is transferred back to the host."),
            field(
                "cores", &P::cores,
                "Cores in use; absent: all, but on a coprocessor those of its operating system.",
                1U, 4096U),
            field(
                "threads_per_core", &P::threads_per_core, "Threads in use per core; absent: all.",
                1U, 64U),
            field(
                "nested_threads", &P::nested_threads,
                "Threads of a nested region that each of these threads opens inside the layer's; "
                "1: no nesting.",
                1U, 256U),
            field(
                "team_cores", &P::team_cores,
                "Cores of a team, which share rows and one copy of the gradients: the mini-batch "
                "is divided over teams, neurons over the threads of a team; cores that fill no "
                "team idle. Absent: the number that fits the memory with the shortest step.",
                1U, 4096U),
            field(
                "copies_at_once", &P::copies_at_once,
                "Copies of the gradients that a thread reads at once where it adds them: 2: in "
                "pairs. Absent: for each layer the number with the shortest sum.",
                2U, 4096U));
    }
    void check(ParamChecker& checker) const;
};

[[nodiscard]] const WorkloadKind& kind_of(const ManyCoreParams& params);

}  // namespace switchfold

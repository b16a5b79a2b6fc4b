// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"
#include "sim/core/params.h"
#include "workloads/offload/autoencoder.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

enum class ManyCoreDevice : std::uint8_t { kCoprocessor, kHost };
template <>
struct EnumNames<ManyCoreDevice> {
    static constexpr std::array<std::pair<ManyCoreDevice, std::string_view>, 2> kNames{
        {{ManyCoreDevice::kCoprocessor, "coprocessor"}, {ManyCoreDevice::kHost, "host"}}};
};
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

/// The link between host and coprocessor; its directions are independent.
struct OffloadLinkParams {
    Bandwidth bandwidth;
    Time latency;
    static constexpr auto fields() {
        using P = OffloadLinkParams;
        return std::tuple{
            field(
                "bandwidth",
                &P::bandwidth,
                "Of each direction.",
                Bandwidth(1'000'000),
                gigabytes_per_second(10'000))
                .required(),
            field(
                "latency",
                &P::latency,
                "From the start of a transfer to its first byte.",
                Time(),
                microseconds(1'000'000))};
    }
};

/// Training of a deep autoencoder on a many-core coprocessor or on its host (docs/coprocessor.md).
struct ManyCoreParams {
    PathOr<ProcessorParams> coprocessor;
    PathOr<ProcessorParams> host;
    OffloadLinkParams link;
    ManyCoreDevice on = ManyCoreDevice::kCoprocessor;
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
    static constexpr auto fields() {
        using P = ManyCoreParams;
        return std::tuple{
            field("coprocessor", &P::coprocessor, "The coprocessor, or the file that describes it.")
                .required(),
            field("host", &P::host, "One socket of its host, or the file that describes it.")
                .required(),
            field("link", &P::link, "The way between the two.").required(),
            field("on", &P::on, "Which of them computes."),
            field(
                "widths",
                &P::widths,
                "Neurons of the encoder's layers, from the input to the code; the decoder is the "
                "same backwards.",
                1U,
                1'048'576U)
                .required(),
            field("batch", &P::batch, "Samples of a mini-batch.", 1U, 1'048'576U).required(),
            field("steps", &P::steps, "Mini-batches that are run.", 1U, 65'536U),
            field(
                "steps_per_chunk",
                &P::steps_per_chunk,
                "Mini-batches that travel to the coprocessor together.",
                1U,
                65'536U),
            field(
                "buffers",
                &P::buffers,
                "Chunks that have room on the coprocessor, one of them at work.",
                1U,
                64U),
            field(
                "strategy",
                &P::strategy,
                "two_level: own loops, the mini-batch over cores, neurons over a core's threads "
                "and lanes, one parallel region a layer; library: one matrix product of a library "
                "a layer and direction."),
            field(
                "gradients",
                &P::gradients,
                "How the cores' gradients are added in two_level: atomics, on one array; copies, "
                "an array a core and a tree."),
            field(
                "recompute",
                &P::recompute,
                "Run the encoder's forward pass again before its backward pass, and keep none of "
                "its activations."),
            field("returns_code", &P::returns_code, "Each sample's code travels back to the host."),
            field("cores", &P::cores, "Cores that are used; without it: all.", 1U, 4096U),
            field(
                "threads_per_core",
                &P::threads_per_core,
                "Threads on each of them; without it: all.",
                1U,
                64U),
            field(
                "nested_threads",
                &P::nested_threads,
                "Threads of a region that each of these threads opens inside the layer's; 1: no "
                "region lies inside another.",
                1U,
                256U)};
    }
    void check(ParamChecker& checker) const;
    /// The processor that computes.
    [[nodiscard]] const ProcessorParams& processor() const {
        return on == ManyCoreDevice::kHost ? *host : *coprocessor;
    }
};

}  // namespace switchfold

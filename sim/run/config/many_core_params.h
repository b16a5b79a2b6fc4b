// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"
#include "sim/core/params.h"
#include "workloads/offload/autoencoder.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
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
        return list_of(
            field(
                "bandwidth",
                &P::bandwidth,
                "Rate of each direction.",
                Bandwidth(1'000'000),
                gigabytes_per_second(10'000))
                .required(),
            field(
                "latency",
                &P::latency,
                "Latency from the start of a transfer to its first byte.",
                Time(),
                microseconds(1'000'000)));
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
        return list_of(
            field("coprocessor", &P::coprocessor, "The coprocessor, or the file that describes it.")
                .required(),
            field("host", &P::host, "One socket of its host, or the file that describes it.")
                .required(),
            field("link", &P::link, "Link between host and coprocessor.").required(),
            field("on", &P::on, "The one that computes."),
            field(
                "widths",
                &P::widths,
                "Neurons of the encoder's layers, from the input to the code; the decoder mirrors "
                "them.",
                1U,
                1'048'576U)
                .required(),
            field("batch", &P::batch, "Samples of a mini-batch.", 1U, 1'048'576U).required(),
            field("steps", &P::steps, "Mini-batches that are run.", 1U, 65'536U),
            field(
                "steps_per_chunk",
                &P::steps_per_chunk,
                "Mini-batches per transfer to the coprocessor.",
                1U,
                65'536U),
            field(
                "buffers",
                &P::buffers,
                "Chunk buffers on the coprocessor, including the one in use.",
                1U,
                64U),
            field(
                "strategy",
                &P::strategy,
                "two_level: hand-written loops with the mini-batch over cores, neurons over a "
                "core's threads and lanes, and one parallel region per layer; library: one library "
                "matrix product per layer and direction."),
            field(
                "gradients",
                &P::gradients,
                "How two_level sums the cores' gradients: atomics, on one array; copies, one array "
                "per core and a tree."),
            field(
                "recompute",
                &P::recompute,
                "Discard the encoder's activations and run its forward pass again before its "
                "backward pass."),
            field(
                "returns_code",
                &P::returns_code,
                "Each sample's code is transferred back to the host."),
            field("cores", &P::cores, "Cores in use; absent: all.", 1U, 4096U),
            field(
                "threads_per_core",
                &P::threads_per_core,
                "Threads in use per core; absent: all.",
                1U,
                64U),
            field(
                "nested_threads",
                &P::nested_threads,
                "Threads of a nested region that each of these threads opens inside the layer's; "
                "1: no nesting.",
                1U,
                256U));
    }
    void check(ParamChecker& checker) const;
    /// The processor that computes.
    [[nodiscard]] const ProcessorParams& processor() const {
        return on == ManyCoreDevice::kHost ? *host : *coprocessor;
    }
};

}  // namespace switchfold

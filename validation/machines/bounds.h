// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "workloads/kernels/attention.h"
#include "workloads/kernels/matrix_product.h"

#include <cstdint>
#include <string>

namespace switchfold::validation {

/// What a machine can do at most, whatever runs on it. A measurement beyond is of another machine,
/// or wrong.

/// Least seconds of a collective over the first `ranks` GPUs: what must leave or enter a GPU, and a
/// machine of several, over the rates of all of its links together. 0 for a single rank.
[[nodiscard]] double least_seconds(
    const SystemParams& system, CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks);

/// Most operations a second of a data type by the GPU's data sheet, a tenth more for clocks above
/// it; 0 if the description states none.
[[nodiscard]] double most_flops(const GpuRates& gpu, Datatype datatype);

/// Operations of a product. Of attention those of its two products, of whose pairs a causal one
/// needs half; a backward pass has more.
[[nodiscard]] double operations_of(const MatrixProduct& product);
[[nodiscard]] double operations_of(const Attention& attention);

/// Why no such collective, product or attention can have taken so short; empty if one can. A
/// product moves what the L2 cannot hold at `memory_bandwidth`, B/s, at most.
[[nodiscard]] std::string why_impossible(
    const SystemParams& system, CollectiveKind kind, std::uint64_t bytes, std::uint32_t ranks,
    double seconds);
[[nodiscard]] std::string why_impossible(
    const MatrixProduct& product, const GpuRates& gpu, double memory_bandwidth, double seconds);
[[nodiscard]] std::string why_impossible(
    const Attention& attention, const GpuRates& gpu, double memory_bandwidth, double seconds);
/// The same of `flops` operations a second.
[[nodiscard]] std::string why_impossible_rate(double flops, const GpuRates& gpu, Datatype datatype);

}  // namespace switchfold::validation

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <optional>
#include <string_view>

namespace switchfold {

/// What a kernel does, from its name.
[[nodiscard]] KernelClass classify_kernel(std::string_view name);
/// What a copy or a memset does, from what profilers call it ("Memcpy HtoD (Pageable -> Device)").
[[nodiscard]] CopyKind classify_copy(std::string_view name);
/// NCCL's, RCCL's and other communication kernels.
[[nodiscard]] bool is_communication(std::string_view name);
/// From what the trace calls the collective and the kernel's name; nothing for barriers and the
/// like without a kind.
[[nodiscard]] std::optional<CollectiveKind>
classify_collective(std::string_view collective, std::string_view kernel);
/// The trace's name of a type ("Float", "BFloat16", "c10::Half", ...).
[[nodiscard]] std::optional<Datatype> parse_datatype(std::string_view text);
/// The type that a communication kernel was compiled for, from its name
/// ("..._Sum_f16_RING_LL(...)").
[[nodiscard]] std::optional<Datatype> kernel_datatype(std::string_view kernel);
/// The algorithm that a communication kernel's name tells; empty where it tells none. NCCL launches
/// rings, CollNet, PAT, NVLS and NVLS trees of every protocol by kernels whose names end in
/// "RING_LL", trees of every protocol by those that end in "TREE_LL" (src/device/generate.py,
/// best_kernel). Kernels on symmetric memory (ncclSymkDevKernel_...) are named after what they do:
/// "MC" is multicast, so the switch reduces or copies ("nvls"), without it they use the GPUs' own
/// links
/// ("symmetric").
[[nodiscard]] std::string_view kernel_algorithm(std::string_view kernel);

/// Peak memory bandwidth of a GPU by the name that traces give it. Bytes a second; nothing if
/// unknown.
[[nodiscard]] std::optional<double>
peak_bandwidth(std::string_view gpu_name, std::uint64_t memory_bytes);
/// Share of the peak that kernels of a class draw when nothing better is known: memory-bound
/// classes near what the streaming benchmarks reach, matrix kernels about a third.
[[nodiscard]] double default_bandwidth_share(KernelClass kernel_class);

}  // namespace switchfold

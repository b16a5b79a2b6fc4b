// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <optional>
#include <string_view>

namespace switchfold {

/// What a kernel does, judged by its name.
[[nodiscard]] KernelClass classify_kernel(std::string_view name);
/// What a copy or memset does, judged by the profilers' name for it ("Memcpy HtoD (Pageable ->
/// Device)").
[[nodiscard]] CopyKind classify_copy(std::string_view name);
/// Whether the copy of this name goes from one GPU to another.
[[nodiscard]] bool is_between_gpus(std::string_view copy);
/// Whether the kernel is from NCCL, RCCL or another communication library.
[[nodiscard]] bool is_communication(std::string_view name);
/// Whether the kernel is one of NCCL's, RCCL's or MSCCL's.
[[nodiscard]] bool is_of_nccl(std::string_view kernel);
/// Kind of collective, from the trace's name for it and the kernel's name; nothing for barriers and
/// the like.
[[nodiscard]] std::optional<CollectiveKind>
classify_collective(std::string_view collective, std::string_view kernel);
/// Data type from its name in a trace ("Float", "BFloat16", "c10::Half", ...).
[[nodiscard]] std::optional<Datatype> parse_datatype(std::string_view text);
/// Elements that a trace counts in a type, which may be no Datatype: two 4-bit numbers are one
/// element of a byte, a complex number is two.
struct ElementWidth {
    Datatype type = Datatype::kFloat32;  ///< of what an element consists of
    std::uint32_t numbers = 1;           ///< of that type in an element
    [[nodiscard]] Bytes bytes(std::uint64_t elements) const {
        return size_of(type) * (elements * numbers);
    }
};
/// Nothing for an unknown type.
[[nodiscard]] std::optional<ElementWidth> element_width(std::string_view text);
/// Data type that a communication kernel was compiled for, from its name
/// ("..._Sum_f16_RING_LL(...)").
[[nodiscard]] std::optional<Datatype> kernel_datatype(std::string_view kernel);
/// Algorithm stated by a communication kernel's name; empty if it states none. NCCL runs rings,
/// CollNet, PAT, NVLS and NVLS trees with every protocol in kernels whose names end in "RING_LL",
/// and trees with every protocol in kernels whose names end in "TREE_LL" (src/device/generate.py,
/// best_kernel). Kernels on symmetric memory (ncclSymkDevKernel_...) are named after what they do:
/// with "MC" (multicast) the switch reduces or copies ("nvls"); without it they use plain loads and
/// stores over the GPUs' links ("symmetric").
[[nodiscard]] std::string_view kernel_algorithm(std::string_view kernel);

/// Default share of the peak bandwidth that kernels of a class use: for memory-bound classes close
/// to streaming benchmarks, for matrix kernels about a third.
[[nodiscard]] double default_bandwidth_share(KernelClass kernel_class);

}  // namespace switchfold

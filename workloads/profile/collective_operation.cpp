// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/collective_operation.h"

#include "workloads/profile/classify.h"
#include "workloads/profile/kernel_traffic.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace switchfold {

namespace {

struct Size {
    Bytes bytes;
    Datatype datatype = Datatype::kFloat32;
    bool known = false;
};

/// Size from the kernel's own counts, which are those of its collective.
Size counted_size(
    const RawTrace& raw,
    const RawGpuEvent& gpu,
    const CollectiveDetails& details,
    CollectiveKind kind) {
    Size size;
    size.datatype = parse_datatype(raw.texts[details.datatype])
                        .value_or(kernel_datatype(raw.name_of(gpu)).value_or(Datatype::kFloat32));
    std::uint64_t elements = details.in_elements;
    if (kind == CollectiveKind::kAllGather)
        elements = std::max(elements, details.out_elements);
    size.known = elements > 0 && elements < (1ULL << 48U);
    if (size.known)
        size.bytes = size_of(size.datatype) * elements;
    return size;
}

/// Size from the tensors of the call, that is, from the send buffer.
Size tensor_size(
    const RawTrace& raw,
    const RawGpuEvent& gpu,
    const CollectiveDetails& details,
    CollectiveKind kind,
    std::size_t group_size) {
    Size size;
    const std::string_view call_types = raw.texts[details.call_types];
    std::uint64_t bytes = 0;
    for (const TensorShape& shape : parse_shapes(raw.texts[details.call_dims], call_types))
        if (shape.elements() > 0)
            bytes += shape.elements() * shape.element_bytes;
    // NCCL's NVTX ranges state what each rank receives, c10d what it contributes.
    const bool of_each =
        kind == CollectiveKind::kAllGather || raw.texts[details.call] == "nccl:ReduceScatter";
    const std::uint64_t copies = of_each ? group_size : 1;
    size.bytes = Bytes(bytes) * copies;
    size.known = bytes > 0;
    size.datatype = kernel_datatype(raw.name_of(gpu)).value_or(Datatype::kFloat32);
    // Kernels that only move data are always compiled for bytes; the tensor's type is more
    // specific.
    const auto types = nlohmann::json::parse(call_types, nullptr, false);
    if (types.is_array() && !types.empty() && types[0].is_string())
        if (const auto type = parse_datatype(types[0].get<std::string>());
            type && *type != Datatype::kUint8)  // bytes may hold any type
            size.datatype = *type;
    return size;
}

/// 0 if the trace does not state it: the model then chooses.
std::uint32_t blocks_or_threads(const Dim3& shape) {
    return shape == kUnknownShape
               ? 0
               : static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.count(), UINT32_MAX));
}

}  // namespace

std::optional<CollectiveKind> collective_kind(const RawTrace& raw, const RawGpuEvent& gpu) {
    // Names of generic kernels say nothing, and a point-to-point kernel serves many collectives:
    // the call's name is the best source.
    const CollectiveDetails& details = raw.collectives[gpu.details];
    if (const auto kind = classify_collective(raw.texts[details.name], ""))
        return kind;
    if (const auto kind = classify_collective(raw.texts[details.call], ""))
        return kind;
    return classify_collective("", raw.name_of(gpu));
}

std::vector<std::uint32_t> group_ranks(const RawTrace& raw, const CollectiveDetails& details) {
    std::vector<std::uint32_t> ranks;
    const auto parsed = nlohmann::json::parse(raw.texts[details.group_ranks], nullptr, false);
    if (parsed.is_array())
        for (const auto& member : parsed)
            if (member.is_number_unsigned() && member.get<std::uint64_t>() < UINT32_MAX)
                ranks.push_back(member.get<std::uint32_t>());
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    // Long lists are truncated ("[0, 1, 2, ...]"): assume the block of neighbouring ranks around
    // this one, as frameworks lay out groups.
    if (ranks.empty() || (details.group_size > 0 && ranks.size() != details.group_size)) {
        const std::uint32_t world = raw.report.world_size;
        const auto count = static_cast<std::uint32_t>(
            details.group_size > 0 ? std::min<std::uint64_t>(details.group_size, world) : world);
        ranks.resize(count);
        std::iota(ranks.begin(), ranks.end(), raw.report.rank / count * count);
    }
    return ranks;
}

CollectiveOperation describe_collective(
    const RawTrace& raw, const RawGpuEvent& gpu, CollectiveKind kind, std::size_t group_size) {
    const CollectiveDetails& details = raw.collectives[gpu.details];
    const GpuTask& task = raw.tasks[gpu.task];
    Size size = counted_size(raw, gpu, details, kind);
    if (!size.known)
        size = tensor_size(raw, gpu, details, kind, group_size);
    CollectiveOperation collective;
    collective.kind = kind;
    collective.bytes = size.bytes;
    collective.datatype = size.datatype;
    collective.size_source = size.known ? SizeSource::kTrace : SizeSource::kEstimatedFromDuration;
    collective.measured = Time(gpu.duration);
    collective.thread_blocks = blocks_or_threads(task.grid);
    collective.threads_per_block = blocks_or_threads(task.block);
    collective.registers_per_thread = task.registers_per_thread;
    collective.shared_memory = Bytes(task.shared_memory);
    // Prefer what NCCL itself recorded for the call; it is the only source of the protocol.
    collective.algorithm = details.algorithm == 0 ? kernel_algorithm(raw.texts[task.name])
                                                  : raw.texts[details.algorithm];
    collective.protocol = raw.texts[details.protocol];
    return collective;
}

}  // namespace switchfold

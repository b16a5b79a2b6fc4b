// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/collective_operation.h"

#include "workloads/kineto/classify.h"
#include "workloads/kineto/kernel_traffic.h"

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

/// From the kernel's own counts, which are those of its collective.
Size counted_size(const TraceEvent& event, CollectiveKind kind) {
    Size size;
    size.datatype = parse_datatype(event.datatype)
                        .value_or(kernel_datatype(event.name).value_or(Datatype::kFloat32));
    std::uint64_t elements = event.in_elements;
    if (kind == CollectiveKind::kAllGather)
        elements = std::max(elements, event.out_elements);
    size.known = elements > 0 && elements < (1ULL << 48U);
    if (size.known)
        size.bytes = size_of(size.datatype) * elements;
    return size;
}

/// From the tensors of the call: what it sends from.
Size tensor_size(const RawGpuEvent& gpu, CollectiveKind kind, std::size_t group_size) {
    Size size;
    std::uint64_t bytes = 0;
    for (const TensorShape& shape : parse_shapes(gpu.collective_dims, gpu.collective_types))
        if (shape.elements() > 0)
            bytes += shape.elements() * shape.element_bytes;
    const std::uint64_t copies = kind == CollectiveKind::kAllGather ? group_size : 1;
    size.bytes = Bytes(bytes) * copies;
    size.known = bytes > 0;
    size.datatype = kernel_datatype(gpu.event.name).value_or(Datatype::kFloat32);
    // The kernel of a plain data movement is always compiled for bytes: the tensor's type says
    // more.
    const auto types = nlohmann::json::parse(gpu.collective_types, nullptr, false);
    if (types.is_array() && !types.empty() && types[0].is_string())
        if (const auto type = parse_datatype(types[0].get<std::string>());
            type && *type != Datatype::kUint8)  // bytes may stand for anything
            size.datatype = *type;
    return size;
}

}  // namespace

std::optional<CollectiveKind> collective_kind(const RawGpuEvent& gpu) {
    // A generic kernel's name says nothing and a point-to-point one serves many collectives: the
    // call knows best.
    const TraceEvent& event = gpu.event;
    if (const auto kind = classify_collective(event.collective_name, ""))
        return kind;
    if (const auto kind = classify_collective(gpu.collective, ""))
        return kind;
    return classify_collective("", event.name);
}

std::vector<std::uint32_t>
group_ranks(const TraceEvent& event, std::uint32_t rank, std::uint32_t world_size) {
    std::vector<std::uint32_t> ranks;
    const auto parsed = nlohmann::json::parse(event.group_ranks, nullptr, false);
    if (parsed.is_array())
        for (const auto& member : parsed)
            if (member.is_number_unsigned() && member.get<std::uint64_t>() < UINT32_MAX)
                ranks.push_back(member.get<std::uint32_t>());
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    // Long lists are cut short ("[0, 1, 2, ...]"): then the block of neighbours around this rank,
    // as frameworks lay groups out.
    if (ranks.empty() || (event.group_size > 0 && ranks.size() != event.group_size)) {
        const auto count = static_cast<std::uint32_t>(
            event.group_size > 0 ? std::min<std::uint64_t>(event.group_size, world_size)
                                 : world_size);
        ranks.resize(count);
        std::iota(ranks.begin(), ranks.end(), rank / count * count);
    }
    return ranks;
}

CollectiveOperation
describe_collective(const RawGpuEvent& gpu, CollectiveKind kind, std::size_t group_size) {
    const TraceEvent& event = gpu.event;
    Size size = counted_size(event, kind);
    if (!size.known)
        size = tensor_size(gpu, kind, group_size);
    CollectiveOperation collective;
    collective.kind = kind;
    collective.bytes = size.bytes;
    collective.datatype = size.datatype;
    collective.size_source = size.known ? SizeSource::kTrace : SizeSource::kEstimatedFromDuration;
    collective.measured = Time(event.duration);
    collective.thread_blocks = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(event.grid.value_or(Dim3{}).count(), UINT32_MAX));
    collective.threads_per_block = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(event.block.value_or(Dim3{}).count(), UINT32_MAX));
    collective.registers_per_thread = event.registers_per_thread;
    collective.shared_memory = Bytes(event.shared_memory);
    const KernelVariant variant = kernel_variant(event.name);
    // NCCL since 2.19 compiles several under one name: what it tells of the call is surer.
    collective.algorithm = event.algorithm.empty() ? variant.algorithm : event.algorithm;
    collective.protocol = event.protocol.empty() ? variant.protocol : event.protocol;
    return collective;
}

}  // namespace switchfold

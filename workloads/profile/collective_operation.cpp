// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/collective_operation.h"

#include "workloads/graph/rank_box.h"
#include "workloads/profile/classify.h"
#include "workloads/profile/kernel_traffic.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
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
    const RawTrace& raw, const RawGpuEvent& gpu, const CollectiveDetails& details,
    CollectiveKind kind, std::size_t group_size) {
    Size size;
    const std::string_view stated = raw.texts[details.datatype];
    const std::optional<ElementWidth> width = element_width(stated);
    size.datatype =
        width ? width->type : kernel_datatype(raw.name_of(gpu)).value_or(Datatype::kFloat32);
    // A type that is stated but unknown leaves the size unknown.
    if (!stated.empty() && !width)
        return size;
    std::uint64_t elements = details.in_elements;
    if (kind == CollectiveKind::kAllGather)
        elements = std::max(elements, details.out_elements);
    // All parts together: c10d states them of the side that the root has.
    if (kind == CollectiveKind::kGather)
        elements = std::max(details.out_elements, details.in_elements * group_size);
    if (kind == CollectiveKind::kScatter)
        elements = std::max(details.in_elements, details.out_elements * group_size);
    size.known = elements > 0 && elements < (1ULL << 48U);
    if (size.known)
        size.bytes = width ? width->bytes(elements) : size_of(size.datatype) * elements;
    return size;
}

/// Size from the tensors of the call, that is, from the send buffer.
Size tensor_size(
    const RawTrace& raw, const RawGpuEvent& gpu, const CollectiveDetails& details,
    CollectiveKind kind, std::size_t group_size) {
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

namespace {

/// The numbers at the beginning of "[0, 8, 16, ...]", ascending, each once.
std::vector<std::uint32_t> numbers_in(std::string_view list) {
    std::vector<std::uint32_t> numbers;
    const char* at = list.data();
    const char* const end = at + list.size();
    while (at != end && (*at == '[' || *at == ',' || *at == ' ')) {
        ++at;
        std::uint32_t number = 0;
        const auto [next, code] = std::from_chars(at, end, number);
        if (code == std::errc{}) {
            numbers.push_back(number);
            at = next;
        }
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

/// Continues the first ranks of a group to `size` ranks if they are a box (see RankBox).
std::vector<std::uint32_t>
continued(const std::vector<std::uint32_t>& first, std::uint64_t size, std::uint32_t world) {
    if (first.size() < 3 || size > world)
        return {};
    return continue_box(first, static_cast<std::uint32_t>(size), world);
}

}  // namespace

std::vector<std::uint32_t> listed_ranks(const RawTrace& raw, const CollectiveDetails& details) {
    const std::vector<std::uint32_t> beside = numbers_in(raw.texts[details.group_ranks]);
    const auto known = raw.groups.find(std::string(raw.texts[details.group_name]));
    const bool cut = details.group_size > beside.size() || beside.empty();
    const bool apart = details.group_name != 0 && known != raw.groups.end() &&
                       (details.group_size == 0 || known->second.size() == details.group_size);
    return cut && apart ? known->second : beside;
}

bool lists_ranks(const RawTrace& raw, const CollectiveDetails& details) {
    const std::size_t listed = listed_ranks(raw, details).size();
    return listed > 0 && (details.group_size == 0 || listed == details.group_size);
}

std::vector<std::uint32_t> group_ranks(const RawTrace& raw, const CollectiveDetails& details) {
    std::vector<std::uint32_t> ranks = listed_ranks(raw, details);
    if (!ranks.empty() && (details.group_size == 0 || ranks.size() == details.group_size))
        return ranks;
    const std::uint32_t world = raw.report.world_size;
    if (details.group_size > ranks.size())
        if (auto whole = continued(ranks, details.group_size, world); !whole.empty())
            return whole;
    const auto count = static_cast<std::uint32_t>(
        details.group_size > 0 ? std::min<std::uint64_t>(details.group_size, world) : world);
    ranks.resize(count);
    std::iota(ranks.begin(), ranks.end(), raw.report.rank / count * count);
    return ranks;
}

Bytes tensor_bytes(const RawTrace& raw, const CollectiveDetails& details) {
    std::uint64_t bytes = 0;
    for (const TensorShape& shape :
         parse_shapes(raw.texts[details.call_dims], raw.texts[details.call_types]))
        bytes += shape.elements() * shape.element_bytes;
    return Bytes(bytes);
}

bool states_parts(const RawTrace& raw, const CollectiveDetails& details) {
    return raw.texts[details.in_splits].find_first_of("0123456789") != std::string_view::npos ||
           raw.texts[details.out_splits].find_first_of("0123456789") != std::string_view::npos;
}

namespace {

/// Whole numbers of "[6, 2]", in order. Nothing for any other text.
std::optional<std::vector<std::uint64_t>> parts_in(std::string_view list) {
    std::vector<std::uint64_t> parts;
    const auto parsed = nlohmann::json::parse(list, nullptr, false);
    if (!parsed.is_array())
        return std::nullopt;
    for (const auto& part : parsed) {
        if (!part.is_number_unsigned())
            return std::nullopt;
        parts.push_back(part.get<std::uint64_t>());
    }
    return parts;
}

/// The parts in bytes: what they are counted in, elements or rows, follows from their sum.
std::optional<std::vector<std::uint64_t>>
part_bytes(std::string_view list, std::uint64_t all_bytes, std::size_t ranks) {
    auto parts = parts_in(list);
    if (!parts)
        return std::nullopt;
    if (parts->empty())  // none stated: even
        return std::vector<std::uint64_t>(ranks, all_bytes / ranks);
    if (parts->size() != ranks)
        return std::nullopt;
    double sum = 0;
    for (const std::uint64_t part : *parts)
        sum += static_cast<double>(part);
    for (std::uint64_t& part : *parts)
        part = sum > 0 ? static_cast<std::uint64_t>(std::llround(
                             static_cast<double>(part) / sum * static_cast<double>(all_bytes)))
                       : 0;
    return parts;
}

}  // namespace

std::optional<UnevenExchange> exchange_of(
    const RawTrace& raw, const CollectiveDetails& details, const CollectiveOperation& collective,
    const std::vector<std::uint32_t>& ranks) {
    const auto own = std::lower_bound(ranks.begin(), ranks.end(), raw.report.rank);
    if (own == ranks.end() || *own != raw.report.rank)
        return std::nullopt;
    const ElementWidth width =
        element_width(raw.texts[details.datatype]).value_or(ElementWidth{collective.datatype, 1});
    const auto bytes = [width](std::uint64_t elements) {
        return elements < (1ULL << 48U) ? width.bytes(elements).count() : 0;
    };
    const auto sent =
        part_bytes(raw.texts[details.in_splits], bytes(details.in_elements), ranks.size());
    const auto received =
        part_bytes(raw.texts[details.out_splits], bytes(details.out_elements), ranks.size());
    if (!sent && !received)
        return std::nullopt;
    UnevenExchange exchange = UnevenExchange::of(static_cast<std::uint32_t>(ranks.size()));
    const auto position = static_cast<std::uint32_t>(own - ranks.begin());
    for (std::uint32_t other = 0; other < exchange.ranks; ++other) {
        if (received)
            exchange.at(other, position) = (*received)[other];
        if (sent)
            exchange.at(position, other) = (*sent)[other];
    }
    return exchange;
}

CollectiveOperation describe_collective(
    const RawTrace& raw, const RawGpuEvent& gpu, CollectiveKind kind, std::size_t group_size) {
    const CollectiveDetails& details = raw.collectives[gpu.details];
    const GpuTask& task = raw.tasks[gpu.task];
    Size size = counted_size(raw, gpu, details, kind, group_size);
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

// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/nccl/calls.h"

#include <array>
#include <string_view>

namespace switchfold::capture::nccl {

namespace {

/// A word from NCCL: given directly, or as an index into `list`.
template <std::size_t N>
std::string word(const std::array<std::string_view, N>& /*list*/, const char* told) {
    return told == nullptr ? "" : told;
}
template <std::size_t N>
std::string word(const std::array<std::string_view, N>& list, std::uint8_t told) {
    return std::string(told < N ? list[told] : std::string_view("unknown"));
}

// Version 1 passes numbers where later versions pass words: the values of NCCL 2.23's ncclFunc_t
// and ncclDataType_t and of its algorithms and protocols.
constexpr std::array<std::string_view, 8> kFunctions{
    "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", "SendRecv", "Send", "Recv"};
constexpr std::array<std::string_view, 12> kDatatypes{
    "ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
    "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
    "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
constexpr std::array<std::string_view, 7> kAlgorithms{
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<std::string_view, 3> kProtocols{"LL", "LL128", "SIMPLE"};

template <class CollectivePart>
NcclCall collective(const CollectivePart& part) {
    NcclCall call;
    if constexpr (requires { part.communicator; })
        call.communicator = part.communicator;
    call.sequence = part.sequence;
    call.function = word(kFunctions, part.function);
    call.datatype = word(kDatatypes, part.datatype);
    call.count = part.count;
    call.root_or_peer = static_cast<std::uint32_t>(part.root);
    call.channels = part.channels;
    call.warps = part.warps;
    call.algorithm = word(kAlgorithms, part.algorithm);
    call.protocol = word(kProtocols, part.protocol);
    return call;
}

template <class PointToPointPart>
NcclCall point_to_point(const PointToPointPart& part) {
    NcclCall call;
    if constexpr (requires { part.communicator; })
        call.communicator = part.communicator;
    if constexpr (requires { part.channels; })
        call.channels = part.channels;
    call.function = word(kFunctions, part.function);
    call.datatype = word(kDatatypes, part.datatype);
    call.count = part.count;
    call.root_or_peer = static_cast<std::uint32_t>(part.peer);
    return call;
}

template <class AnyDescription>
std::optional<NcclCall> call_of_any(const AnyDescription& description) {
    if (description.type == kCollective)
        return collective(description.collective);
    if (description.type == kPointToPoint)
        return point_to_point(description.point_to_point);
    return std::nullopt;
}

template <class AnyDescription>
const char* name_of_any(const AnyDescription& description) {
    if (description.type == kCollective)
        return description.collective.communicator_name;
    return description.type == kPointToPoint ? description.point_to_point.communicator_name
                                             : nullptr;
}

}  // namespace

std::optional<NcclCall> call_of(const DescriptionV1& description) {
    return call_of_any(description);
}
std::optional<NcclCall> call_of(const DescriptionV2& description) {
    return call_of_any(description);
}
std::optional<NcclCall> call_of(const DescriptionV3& description) {
    return call_of_any(description);
}
std::optional<NcclCall> call_of(const DescriptionV4& description) {
    return call_of_any(description);
}

const char* communicator_name(const DescriptionV1& description) {
    return name_of_any(description);
}
const char* communicator_name(const DescriptionV2& description) {
    return name_of_any(description);
}
const char* communicator_name(const DescriptionV3& description) {
    return name_of_any(description);
}
const char* communicator_name(const DescriptionV4& /*description*/) {
    return nullptr;
}

}  // namespace switchfold::capture::nccl

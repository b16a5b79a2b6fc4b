// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params_schema.h"
#include "workloads/graph/execution_graph.h"

#include <array>

namespace switchfold {

/// All values of an enum that a trace record may hold; to_string() gives their words.
template <class E>
struct AllOf;
template <>
struct AllOf<StreamKind> {
    static constexpr std::array kValues{StreamKind::kGpu, StreamKind::kHost};
};
template <>
struct AllOf<Phase> {
    static constexpr std::array kValues{
        Phase::kOther, Phase::kForward, Phase::kBackward, Phase::kOptimizer};
};
template <>
struct AllOf<KernelClass> {
    static constexpr std::array kValues{
        KernelClass::kGemmConv,        KernelClass::kAttention,   KernelClass::kNorm,
        KernelClass::kReduction,       KernelClass::kElementwise, KernelClass::kCopyLayout,
        KernelClass::kEmbeddingGather, KernelClass::kOptimizer,   KernelClass::kOther};
};
template <>
struct AllOf<ByteSource> {
    static constexpr std::array kValues{
        ByteSource::kCounters, ByteSource::kShapes, ByteSource::kClassDefault};
};
template <>
struct AllOf<DurationSource> {
    static constexpr std::array kValues{
        DurationSource::kMeasuredAlone, DurationSource::kOtherOccurrence,
        DurationSource::kMeasuredOverlapped, DurationSource::kModel, DurationSource::kCounts};
};
template <>
struct AllOf<SizeSource> {
    static constexpr std::array kValues{
        SizeSource::kTrace, SizeSource::kUser, SizeSource::kEstimatedFromDuration};
};
template <>
struct AllOf<CopyKind> {
    static constexpr std::array kValues{
        CopyKind::kHostToDevice, CopyKind::kDeviceToHost, CopyKind::kDeviceToDevice,
        CopyKind::kMemset};
};
template <>
struct AllOf<CollectiveKind> {
    static constexpr auto kValues = kCollectiveKinds;
};
template <>
struct AllOf<Datatype> {
    static constexpr std::array kValues{Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16,
                                        Datatype::kFloat64, Datatype::kInt8,    Datatype::kUint8,
                                        Datatype::kInt32,   Datatype::kInt64,   Datatype::kFloat8};
};

/// An enum that a record stores as a word.
template <class E>
struct Word {
    E value{};
    bool operator==(const Word&) const = default;
};

template <class E>
OrderedJson write_value(const Word<E>& word) {
    return std::string(to_string(word.value));
}

template <class E>
struct SchemaOf<Word<E>> {
    static OrderedJson make() {
        OrderedJson words = OrderedJson::array();
        for (const E value : AllOf<E>::kValues)
            words.push_back(std::string(to_string(value)));
        return {{"enum", words}};
    }
};

}  // namespace switchfold

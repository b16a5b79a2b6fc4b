// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/listed/names.h"

#include "sim/core/text.h"
#include "workloads/profile/classify.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace switchfold {

std::optional<CollectiveKind> collective_named(std::string_view name) {
    // Kinds that the names of kernels never state.
    constexpr std::array<std::pair<std::string_view, CollectiveKind>, 3> kOfCalls{
        {{"sendrecv", CollectiveKind::kSendReceive},
         {"gather", CollectiveKind::kGather},
         {"scatter", CollectiveKind::kScatter}}};
    std::string word = lower(name.substr(std::min(name.find(':') + 1, name.size())));
    if (word.ends_with("_perf"))
        word.resize(word.size() - std::string_view("_perf").size());
    word.erase(std::remove(word.begin(), word.end(), '_'), word.end());
    for (const auto& [known, kind] : kOfCalls)
        if (word == known)
            return kind;
    if (word.find("barrier") == 0 || word == "send" || word == "recv")
        return std::nullopt;
    if (word == "reduce" || word == "reduceoop")
        return CollectiveKind::kReduce;
    return classify_collective(word, "");
}

bool sums_parts(CollectiveKind kind) {
    return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
           kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kGather ||
           kind == CollectiveKind::kScatter;
}

std::optional<TensorType> tensor_type(std::string_view name) {
    if (name.starts_with("Float8_"))
        return TensorType{1, Datatype::kFloat8};
    // c10::toString of ScalarType.
    constexpr std::array<std::pair<std::string_view, TensorType>, 22> kTypes{
        {{"Float", {4, Datatype::kFloat32}},
         {"Half", {2, Datatype::kFloat16}},
         {"BFloat16", {2, Datatype::kBfloat16}},
         {"Double", {8, Datatype::kFloat64}},
         {"Byte", {1, Datatype::kUint8}},
         {"Bool", {1, Datatype::kUint8}},
         {"Char", {1, Datatype::kInt8}},
         {"Short", {2, Datatype::kInt8}},
         {"Int", {4, Datatype::kInt32}},
         {"Long", {8, Datatype::kInt64}},
         {"UInt16", {2, Datatype::kUint8}},
         {"UInt32", {4, Datatype::kInt32}},
         {"UInt64", {8, Datatype::kInt64}},
         {"ComplexHalf", {4, Datatype::kFloat16}},
         {"ComplexFloat", {8, Datatype::kFloat32}},
         {"ComplexDouble", {16, Datatype::kFloat64}},
         {"QInt8", {1, Datatype::kInt8}},
         {"QUInt8", {1, Datatype::kUint8}},
         {"QInt32", {4, Datatype::kInt32}},
         {"Float4_e2m1fn_x2", {1, Datatype::kUint8}},
         {"Bits8", {1, Datatype::kUint8}},
         {"Bits16", {2, Datatype::kUint8}}}};
    for (const auto& [known, type] : kTypes)
        if (known == name)
            return type;
    return std::nullopt;
}

}  // namespace switchfold

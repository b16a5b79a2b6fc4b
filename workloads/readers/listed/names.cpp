// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/listed/names.h"

#include "core/text.h"
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

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace switchfold {

namespace {

std::string without_digits(const std::string& text) {
    std::string kind = text;
    std::erase_if(kind, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    return kind;
}

struct Assumption {
    std::string text;
    std::uint32_t rank = 0;
    std::size_t ranks = 0;
    bool same = true;
};

}  // namespace

std::vector<std::string> assumptions_of(const std::vector<TraceFileReport>& files) {
    std::vector<Assumption> found;
    std::map<std::string, std::size_t> place;
    for (const TraceFileReport& file : files)
        for (const std::string& text : file.warnings) {
            const auto [at, fresh] = place.try_emplace(without_digits(text), found.size());
            if (fresh)
                found.push_back({text, file.rank, 0, true});
            Assumption& one = found[at->second];
            ++one.ranks;
            one.same = one.same && one.text == text;
        }
    std::vector<std::string> texts;
    for (const Assumption& one : found) {
        if (one.same && one.ranks == files.size())
            texts.push_back(one.text);
        else if (one.ranks == 1)
            texts.push_back(fmt::format("rank {}: {}", one.rank, one.text));
        else
            texts.push_back(fmt::format(
                "rank {}: {} (alike on {} more rank{})", one.rank, one.text, one.ranks - 1,
                one.ranks == 2 ? "" : "s"));
    }
    return texts;
}

}  // namespace switchfold

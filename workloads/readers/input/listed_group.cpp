// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/input/listed_group.h"

#include <algorithm>

namespace switchfold {

std::optional<ListedGroup> listed_group(const Json& entry, std::uint64_t most) {
    if (!entry.is_object())
        return std::nullopt;
    const auto name = entry.find("pg_name");
    const auto listed = entry.find("ranks");
    const auto size = entry.find("pg_size");
    if (name == entry.end() || !name->is_string() || listed == entry.end())
        return std::nullopt;
    // Some versions write the list as text.
    const Json ranks =
        listed->is_string() ? Json::parse(listed->get<std::string>(), nullptr, false) : *listed;
    if (!ranks.is_array())
        return std::nullopt;
    ListedGroup group;
    group.name = name->get<std::string>();
    for (const Json& rank : ranks)
        if (rank.is_number_unsigned() && rank.get<std::uint64_t>() < most)
            group.ranks.push_back(rank.get<std::uint32_t>());
    const bool other_size = size != entry.end() && size->is_number_unsigned() &&
                            size->get<std::uint64_t>() != group.ranks.size();
    group.whole = group.ranks.size() == ranks.size() && !other_size;
    std::sort(group.ranks.begin(), group.ranks.end());
    group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
    return group;
}

}  // namespace switchfold

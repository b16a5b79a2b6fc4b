// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/chakra/process_groups.h"

#include "workloads/readers/input/listed_group.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace switchfold::chakra {

ProcessGroups::ProcessGroups(
    const std::vector<Node>& nodes, std::uint32_t world_size, const GroupMembers& told) :
    world_(std::max(1U, world_size)), recorded_(told) {
    std::iota(world_.begin(), world_.end(), 0U);
    for (const Node& node : nodes)
        if (node.name.find("process_group:init") != std::string::npos)
            read(node.input_values);
}

/// `values` is a list whose first item is a JSON list, as text, of {"pg_name", "ranks", ...}.
void ProcessGroups::read(const std::string& values) {
    const std::size_t from = values.find("[{");
    const std::size_t end = values.rfind("}]");
    if (from == std::string::npos || end == std::string::npos || end < from)
        return;
    std::string text = values.substr(from, end + 2 - from);
    text.erase(std::remove(text.begin(), text.end(), '\\'), text.end());
    const Json list = Json::parse(text, nullptr, false);
    if (!list.is_array())
        return;
    for (const Json& entry : list)
        if (auto group = listed_group(entry, UINT32_MAX))
            recorded_[group->name] = std::move(group->ranks);
}

std::uint32_t ProcessGroups::index(const std::string& name) {
    const std::string called = name.empty() ? "world" : name;
    for (std::uint32_t i = 0; i < groups_.size(); ++i)
        if (groups_[i].name == called)
            return i;
    const auto found = recorded_.find(name);
    const bool world = found == recorded_.end() ? name.empty() : found->second.empty();
    groups_.push_back({called, {}});
    if (world)
        groups_.back().ranks = world_;
    else if (found != recorded_.end())
        groups_.back().ranks = found->second;
    members_ += groups_.back().ranks.size();
    return static_cast<std::uint32_t>(groups_.size() - 1);
}

}  // namespace switchfold::chakra

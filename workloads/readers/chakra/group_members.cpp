// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/chakra/group_members.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "core/json.h"
#include "workloads/readers/input/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace switchfold::chakra {

namespace {

constexpr std::string_view kBlank = " \t\r\n";

/// Removes blanks and then `what` from the front of `text`. \returns false if it is not there.
bool skip(std::string_view& text, char what) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlank)));
    if (!text.starts_with(what))
        return false;
    text.remove_prefix(1);
    return true;
}

class Completion {
public:
    explicit Completion(TraceWorkload& workload) :
        workload_(workload), groups_(workload.graph.groups) {
        for (std::size_t r = 0; r < workload_.graph.ranks.size(); ++r) {
            std::set<std::uint32_t> unknown;
            for (const Operation& operation : workload_.graph.ranks[r]->operations.pass())
                if (const auto* c = std::get_if<CollectiveOperation>(&operation.body))
                    if (groups_[c->group].ranks.empty())
                        unknown.insert(c->group);
            for (const std::uint32_t group : unknown)
                add_user(group, workload_.files[r].rank);
        }
    }

    void run() {
        if (users_.empty() && known_.empty())
            return;
        const bool all = workload_.files.size() > 1 &&
                         workload_.files.size() == workload_.graph.provenance.world_size;
        std::vector<std::uint32_t> world =
            first_ranks(std::max(1U, workload_.graph.provenance.world_size));
        for (const auto& [group, users] : users_)
            groups_[group].ranks = all ? users : world;
        for (std::size_t r = 0; r < workload_.graph.ranks.size(); ++r)
            complete(r);
        if (!users_.empty())
            tell(all);
    }

private:
    /// Another rank's file may say which ranks the group holds.
    void add_user(std::uint32_t group, std::uint32_t rank) {
        for (std::uint32_t other = 0; other < groups_.size(); ++other) {
            const std::vector<std::uint32_t>& ranks = groups_[other].ranks;
            if (groups_[other].name == groups_[group].name &&
                std::binary_search(ranks.begin(), ranks.end(), rank)) {
                known_[{group, rank}] = other;
                return;
            }
        }
        users_[group].push_back(rank);
    }

    void complete(std::size_t r) {
        auto& shared = workload_.graph.ranks[r];
        const std::shared_ptr<RankGraph> rank =
            shared.use_count() == 1 ? std::const_pointer_cast<RankGraph>(std::move(shared))
                                    : std::make_shared<RankGraph>(*shared);
        for (Operation& operation : rank->operations.pass()) {
            auto* c = std::get_if<CollectiveOperation>(&operation.body);
            if (c == nullptr)
                continue;
            const auto known = known_.find({c->group, workload_.files[r].rank});
            if (known == known_.end() && !users_.contains(c->group))
                continue;
            if (known != known_.end())
                c->group = known->second;
            enlarge(*c, workload_.files[r].file);
        }
        shared = rank;
    }

    /// The size of an all-gather that was read is one rank's part.
    void enlarge(CollectiveOperation& c, const std::string& file) const {
        if (!told_by_part(c.kind))
            return;
        const std::uint64_t parts = groups_[c.group].ranks.size();
        if (c.bytes.count() > UINT64_MAX / 2 / parts)
            throw ConfigError(
                file, "",
                fmt::format(
                    "gathers {} bytes of each of {} ranks; expected fewer", c.bytes.count(),
                    parts));
        c.bytes = Bytes(c.bytes.count() * parts);
    }

    void tell(bool all) {
        std::string names;
        for (const auto& [group, users] : users_)
            names += (names.empty() ? "" : ", ") + groups_[group].name;
        workload_.files.front().warnings.push_back(
            all ? fmt::format(
                      "no file names the members of groups {}: they are the ranks that use them",
                      names)
                : fmt::format(
                      "no file names the members of groups {}, and not all ranks are traced: all "
                      "ranks are taken for each; a file of groups beside the traces, "
                      "{{\"{}\": [0, 1]}}, would name them",
                      names, groups_[users_.begin()->first].name));
    }

    TraceWorkload& workload_;
    std::vector<Group>& groups_;
    /// Ranks that use a group whose members are unknown, ascending.
    std::map<std::uint32_t, std::vector<std::uint32_t>> users_;
    /// The group that stands for such a one on a rank.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;
};

}  // namespace

bool is_group_members(std::string_view beginning) {
    if (!skip(beginning, '{') || !skip(beginning, '"'))
        return false;
    beginning.remove_prefix(std::min(beginning.size(), beginning.find('"')));
    if (!skip(beginning, '"') || !skip(beginning, ':') || !skip(beginning, '['))
        return false;
    const std::size_t first = beginning.find_first_not_of(kBlank);
    return first != std::string_view::npos && beginning[first] >= '0' && beginning[first] <= '9';
}

GroupMembers read_group_members(const std::filesystem::path& file) {
    const Json json = load_json(file);
    GroupMembers members;
    for (const auto& [name, ranks] : json.items()) {
        const auto fail = [&, &name = name](const char* what) {
            throw ConfigError(file.string(), "/" + name, what);
        };
        if (!ranks.is_array() || ranks.empty())
            fail("is not a list of ranks; expected the members of a process group");
        std::vector<std::uint32_t>& of = members[name];
        for (const Json& rank : ranks) {
            if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= kMostTracedRanks)
                fail("holds elements that are not ranks; expected numbers from 0 to 65535");
            of.push_back(rank.get<std::uint32_t>());
        }
        std::sort(of.begin(), of.end());
        if (std::adjacent_find(of.begin(), of.end()) != of.end())
            fail("holds a rank twice; expected each once");
    }
    return members;
}

void complete_groups(TraceWorkload& workload) {
    Completion(workload).run();
}

}  // namespace switchfold::chakra

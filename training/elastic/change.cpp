// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/change.h"

#include "training/elastic/member_gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace switchfold::elastic {

namespace {

class Follower {
public:
    Follower(const Members& first, const MemberGpus& gpus, ChangeProblems& problems) :
        members_(first.begin(), first.end()), gpus_(gpus), problems_(problems) {}

    Step step(std::size_t index, const Change& change) {
        index_ = index;
        check_method(change);
        Step step;
        step.removed = change.remove.ranks.empty()
                           ? last_members(change.remove.count)
                           : named_members(change.remove.ranks, change.died);
        for (const std::uint32_t rank : step.removed)
            members_.erase(rank);
        // Ranks removed by the same change cannot be added.
        std::set<std::uint32_t> away(step.removed.begin(), step.removed.end());
        away.insert(dead_.begin(), dead_.end());
        step.added = change.add.ranks.empty() ? first_free(change.add.count, away)
                                              : named_free(change.add.ranks);
        for (const std::uint32_t rank : step.added) {
            members_.insert(rank);
            dead_.erase(rank);
        }
        if (change.died)
            dead_.insert(step.removed.begin(), step.removed.end());
        if (members_.empty())
            fail("/remove", "leaves nobody to train; expected at least one member");
        step.members.assign(members_.begin(), members_.end());
        return step;
    }

private:
    void fail(const std::string& key, std::string message) {
        problems_.emplace_back(fmt::format("/{}{}", index_, key), std::move(message));
    }

    void check_method(const Change& change) {
        if (change.add.none() && change.remove.none())
            fail("", "changes nothing; expected add or remove");
        if (change.method == Method::kJoin && !change.remove.none())
            fail("/remove", "is given with a join, which only adds; expected a separate change");
        if (change.method == Method::kLeave && !change.add.none())
            fail("/add", "is given with a leave, which only removes; expected a separate change");
        if (change.method == Method::kFailure && !change.add.none())
            fail("/add", "is given with a failure, which only removes; expected a separate change");
        if (change.notice.count() > 0 && change.method != Method::kLeave)
            fail("/notice", "is given for another method; expected a leave");
        if (change.announced && change.method != Method::kReconnect)
            fail("/announced", "is given for another method; expected reconnect");
        if (change.died && (change.method == Method::kLeave || change.method == Method::kJoin))
            fail("/died", "is given for a planned change; expected failure, restart or reconnect");
        if (change.died && change.remove.none())
            fail("/died", "says that members are gone, and none is removed; expected remove");
    }

    /// Members of a number of GPUs, which must be whole ones.
    std::uint32_t whole(const std::string& key, std::uint32_t count) {
        if (count % gpus_.each() != 0)
            fail(
                key, fmt::format(
                         "is {}, and a member of this plan has {} GPUs; expected a multiple of "
                         "those",
                         count, gpus_.each()));
        return count / gpus_.each();
    }

    Members last_members(std::uint32_t count) {
        const std::size_t train = members_.size() * gpus_.each();
        std::uint32_t members = whole("/remove", count);
        if (count > train) {
            fail(
                "/remove",
                fmt::format("is {}, and {} train; expected at most those", count, train));
            members = 0;
        }
        return {std::prev(members_.end(), members), members_.end()};
    }

    /// The members of named GPUs. One that dies takes its member with it; others must be named with
    /// all of their member.
    Members named_members(const std::vector<std::uint32_t>& ranks, bool died) {
        std::set<std::uint32_t> named;
        std::set<std::uint32_t> found;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            const std::string key = fmt::format("/remove/{}", i);
            const std::uint32_t member = gpus_.member_of(ranks[i]);
            if (!members_.contains(member))
                fail(
                    key,
                    fmt::format("is {}, which does not train then; expected a member", ranks[i]));
            else if (!named.insert(ranks[i]).second)
                fail(key, fmt::format("is {}, for a second time", ranks[i]));
            else
                found.insert(member);
        }
        if (!died)
            check_whole("/remove", named, found);
        return {found.begin(), found.end()};
    }

    void check_whole(
        const std::string& key, const std::set<std::uint32_t>& named,
        const std::set<std::uint32_t>& members) {
        for (const std::uint32_t member : members)
            for (const std::uint32_t gpu : gpus_.of(member))
                if (!named.contains(gpu)) {
                    fail(
                        key, fmt::format(
                                 "names a part of the member with the GPUs {}; expected all of "
                                 "them",
                                 fmt::join(gpus_.of(member), ", ")));
                    break;
                }
    }

    Members first_free(std::uint32_t count, const std::set<std::uint32_t>& away) {
        const std::uint32_t wanted = whole("/add", count);
        Members found;
        for (std::uint32_t member = 0; member < gpus_.room() && found.size() < wanted; ++member)
            if (!members_.contains(member) && !away.contains(member))
                found.push_back(member);
        if (found.size() < wanted)
            fail(
                "/add",
                fmt::format(
                    "is {}, and of the machine's {} GPUs {} are free; expected at most those",
                    count, gpus_.room() * gpus_.each(), found.size() * gpus_.each()));
        return found;
    }

    Members named_free(const std::vector<std::uint32_t>& ranks) {
        std::set<std::uint32_t> named;
        std::set<std::uint32_t> found;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            const std::string key = fmt::format("/add/{}", i);
            const std::uint32_t member = gpus_.member_of(ranks[i]);
            if (member >= gpus_.room())
                fail(
                    key, fmt::format(
                             "is {}, and the machine has {} GPUs; expected one below that",
                             ranks[i], gpus_.room() * gpus_.each()));
            else if (members_.contains(member))
                fail(key, fmt::format("is {}, which trains already", ranks[i]));
            else if (!named.insert(ranks[i]).second)
                fail(key, fmt::format("is {}, for a second time", ranks[i]));
            else
                found.insert(member);
        }
        check_whole("/add", named, found);
        return {found.begin(), found.end()};
    }

    std::set<std::uint32_t> members_;
    std::set<std::uint32_t> dead_;
    const MemberGpus& gpus_;
    std::size_t index_ = 0;
    ChangeProblems& problems_;
};

void check_order(const std::vector<Change>& changes, ChangeProblems& problems) {
    for (std::size_t i = 1; i < changes.size(); ++i) {
        const Moment& before = changes[i - 1].at;
        const Moment& now = changes[i].at;
        const std::string key = fmt::format("/{}/at", i);
        if (before.step.has_value() != now.step.has_value())
            problems.emplace_back(
                key, now.step ? "is a step, and the change before it has a time; expected only "
                                "times or only steps"
                              : "is a time, and the change before it has a step; expected only "
                                "times or only steps");
        else if (now.step ? *now.step < *before.step : now.time < before.time)
            problems.emplace_back(
                key, "is before that of the change before it; expected them in order");
    }
}

}  // namespace

std::vector<Step> follow_changes(
    const Members& first, const std::vector<Change>& changes, const MemberGpus& gpus,
    ChangeProblems& problems) {
    check_order(changes, problems);
    std::vector<Step> steps;
    Follower follower(first, gpus, problems);
    for (std::size_t i = 0; i < changes.size(); ++i)
        steps.push_back(follower.step(i, changes[i]));
    return steps;
}

}  // namespace switchfold::elastic

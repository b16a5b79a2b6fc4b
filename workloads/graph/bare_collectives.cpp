// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/bare_collectives.h"

#include "workloads/graph/clock_noise.h"
#include "workloads/graph/schedule.h"
#include "workloads/graph/serial_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace switchfold {

namespace {

class BareCollectives {
public:
    explicit BareCollectives(const RankGraph& rank) : rank_(rank) {}

    /// Null if there are none.
    std::shared_ptr<const RankGraph> run() {
        schedule_ = evaluate(rank_, [](std::uint32_t /*index*/, const Operation& operation) {
            return measured_duration(operation);
        });
        sort_work();
        std::shared_ptr<RankGraph> more;
        for (std::uint32_t i = 0; i < rank_.operations.size(); ++i) {
            const Operation& operation = rank_.operations[i];
            if (!is_collective(operation) || !is_gpu(rank_, operation) ||
                measured_duration(operation) == Time() || waited_for_.contains(i))
                continue;
            const std::optional<std::uint32_t> next = next_after(i);
            if (!next)
                continue;
            if (!more)
                more = std::make_shared<RankGraph>(rank_);
            more->operations[*next].dependencies.push_back(i);
        }
        return more;
    }

private:
    /// GPU work that is no communication, by its start.
    void sort_work() {
        for (std::uint32_t i = 0; i < rank_.operations.size(); ++i) {
            const Operation& operation = rank_.operations[i];
            if (is_gpu(rank_, operation) && !communicates(operation))
                work_.push_back(i);
        }
        for (const std::uint32_t i : work_)
            waited_for_.insert(
                rank_.operations[i].dependencies.begin(), rank_.operations[i].dependencies.end());
        std::stable_sort(work_.begin(), work_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return start(a) < start(b);
        });
        Time until;
        for (const std::uint32_t i : work_) {
            until = std::max(until, schedule_.operations[i].end);
            busy_until_.push_back(until);
        }
    }
    [[nodiscard]] Time start(std::uint32_t i) const { return schedule_.operations[i].start; }

    /// What began next, if nothing ran beside it and the host launched that later.
    [[nodiscard]] std::optional<std::uint32_t> next_after(std::uint32_t collective) const {
        const Schedule::Interval& ran = schedule_.operations[collective];
        const auto next = std::partition_point(work_.begin(), work_.end(), [&](std::uint32_t i) {
            return start(i) + kClockNoise < ran.end;
        });
        if (next == work_.end() || *next < collective)
            return std::nullopt;
        if (next != work_.begin()) {
            const auto before = static_cast<std::size_t>(next - work_.begin()) - 1;
            if (busy_until_[before] > ran.start + kClockNoise)
                return std::nullopt;
        }
        return launched_after(*next, ran.end) ? std::optional(*next) : std::nullopt;
    }

    [[nodiscard]] bool launched_after(std::uint32_t operation, Time end) const {
        const auto& dependencies = rank_.operations[operation].dependencies;
        return std::any_of(dependencies.begin(), dependencies.end(), [&](std::uint32_t launch) {
            return !is_gpu(rank_, rank_.operations[launch]) &&
                   schedule_.operations[launch].end + kClockNoise >= end;
        });
    }

    const RankGraph& rank_;
    Schedule schedule_;
    std::vector<std::uint32_t> work_;
    std::vector<Time> busy_until_;        ///< by place in work_: the latest end so far
    std::set<std::uint32_t> waited_for_;  ///< what work is known to wait for, wherever that is
};

}  // namespace

std::vector<std::shared_ptr<const RankGraph>> with_waits_for_bare(const ExecutionGraph& graph) {
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> done;
    std::vector<std::shared_ptr<const RankGraph>> ranks;
    for (const auto& rank : graph.ranks) {
        const auto [at, fresh] = done.try_emplace(rank.get());
        if (fresh)
            at->second = BareCollectives(*rank).run();
        ranks.push_back(at->second ? at->second : rank);
    }
    return ranks;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/unpaced.h"

#include "workloads/graph/schedule.h"
#include "workloads/graph/serial_order.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// A launch precedes what it launches by microseconds; of this share it precedes none.
constexpr double kOfAll = 0.95;

/// What waits for a message is known by its time alone: without the host's pace a pipeline's stages
/// would run before what they receive.
bool waits_for_messages(const RankGraph& rank) {
    return std::any_of(
        rank.operations.begin(), rank.operations.end(), [](const Operation& operation) {
            return is_message(operation) || is_held_message(operation);
        });
}

class Unpacer {
public:
    explicit Unpacer(const RankGraph& rank) : rank_(rank) {}

    /// Null if the rank's launches are known.
    std::shared_ptr<const RankGraph> run() {
        schedule_ = evaluate(rank_, [](std::uint32_t /*index*/, const Operation& operation) {
            return measured_duration(operation);
        });
        return is_paced() ? unpaced() : nullptr;
    }

private:
    /// Whether almost every operation began as its host's last one ended.
    [[nodiscard]] bool is_paced() const {
        std::size_t all = 0;
        std::size_t at_once = 0;
        for (std::uint32_t i = 0; i < rank_.operations.size(); ++i) {
            const Operation& operation = rank_.operations[i];
            if (!is_gpu(rank_, operation))
                continue;
            for (const std::uint32_t dependency : operation.dependencies)
                if (!is_gpu(rank_, rank_.operations[dependency])) {
                    ++all;
                    at_once += schedule_.operations[dependency].end == schedule_.operations[i].start
                                   ? 1
                                   : 0;
                }
        }
        return all > 0 && static_cast<double>(at_once) >= kOfAll * static_cast<double>(all);
    }

    [[nodiscard]] std::shared_ptr<const RankGraph> unpaced() const {
        auto out = std::make_shared<RankGraph>(rank_);
        Time busy_until;
        bool first = true;
        for (std::uint32_t i = 0; i < out->operations.size(); ++i) {
            Operation& operation = out->operations[i];
            if (!is_gpu(rank_, operation))
                continue;
            const Schedule::Interval& ran = schedule_.operations[i];
            if (!first) {
                Dependencies kept;
                for (const std::uint32_t dependency : operation.dependencies)
                    if (is_gpu(rank_, rank_.operations[dependency]))
                        kept.push_back(dependency);
                operation.dependencies = std::move(kept);
                operation.gap = ran.start > busy_until ? ran.start - busy_until : Time();
            }
            first = false;
            busy_until = std::max(busy_until, ran.end);
        }
        return out;
    }

    const RankGraph& rank_;
    Schedule schedule_;
};

}  // namespace

ExecutionGraph without_pace(const ExecutionGraph& graph) {
    ExecutionGraph out = graph;
    if (graph.provenance.traced_ranks == 0 ||
        std::any_of(graph.ranks.begin(), graph.ranks.end(), [](const auto& rank) {
            return waits_for_messages(*rank);
        }))
        return out;
    std::map<const RankGraph*, std::shared_ptr<const RankGraph>> done;
    for (auto& rank : out.ranks) {
        const auto [at, fresh] = done.try_emplace(rank.get());
        if (fresh)
            at->second = Unpacer(*rank).run();
        if (at->second)
            rank = at->second;
    }
    return out;
}

}  // namespace switchfold

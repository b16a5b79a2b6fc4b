// SPDX-License-Identifier: Apache-2.0
#include "training/placement/task_schedule.h"

#include "core/error.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

class Scheduler {
public:
    Scheduler(const PlacementGraph& graph, const PlacementTasks& tasks, const NodeParts& parts) :
        graph_(graph),
        tasks_(tasks.all()),
        parts_(parts),
        successors_(tasks_.size()),
        waiting_(tasks_.size(), 0),
        arrived_(tasks_.size(), 0),
        to_end_(tasks_.size(), 0),
        ready_(graph.parts),
        busy_(graph.parts, false) {
        schedule_.start.assign(tasks_.size(), 0);
        for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
            waiting_[t] = static_cast<std::uint32_t>(tasks_[t].needs.size());
            for (const std::uint32_t need : tasks_[t].needs)
                successors_[need].push_back(t);
        }
        for (std::size_t t = tasks_.size(); t-- > 0;) {
            double longest =
                tasks_[t].kind == TaskKind::kWeightGradient ? graph.travel(tasks_[t].node) : 0;
            for (const std::uint32_t next : successors_[t])
                longest = std::max(
                    longest, to_end_[next] + (crosses(static_cast<std::uint32_t>(t), next)
                                                  ? message(static_cast<std::uint32_t>(t), next)
                                                  : 0));
            to_end_[t] = tasks_[t].seconds + longest;
        }
        // Gradients to be reduced are computed as early as possible, as in PyTorch.
        for (std::size_t t = 0; graph.replicas > 1 && t < tasks_.size(); ++t)
            if (tasks_[t].kind == TaskKind::kWeightGradient)
                to_end_[t] = to_end_[tasks_[t].needs.front()];
    }

    TaskSchedule run() {
        for (std::uint32_t t = 0; t < tasks_.size(); ++t)
            if (waiting_[t] == 0)
                events_.emplace(0, t, kReady);
        double end = 0;
        while (!events_.empty()) {
            const double now = std::get<0>(events_.top());
            for (; !events_.empty() && std::get<0>(events_.top()) == now; events_.pop())
                take(events_.top());
            end = now;
            for (std::uint32_t part = 0; part < graph_.parts; ++part)
                begin_next(part, now);
        }
        SWITCHFOLD_CHECK(
            schedule_.order.size() == tasks_.size(), "tasks of a division wait for each other");
        schedule_.seconds = end + updates();
        return std::move(schedule_);
    }

private:
    enum Kind : std::uint8_t { kEnded, kReady };
    using Event = std::tuple<double, std::uint32_t, Kind>;

    [[nodiscard]] std::uint32_t part_of(std::uint32_t task) const {
        return parts_[tasks_[task].node];
    }
    [[nodiscard]] bool crosses(std::uint32_t from, std::uint32_t to) const {
        return graph_.gpu_of(part_of(from)) != graph_.gpu_of(part_of(to));
    }
    /// Time of the message between two tasks: the output of the forward's node, or the gradient of
    /// the receiver's output; one piece if both nodes have pieces.
    [[nodiscard]] double message(std::uint32_t from, std::uint32_t to) const {
        const bool forward = tasks_[from].kind == TaskKind::kForward;
        const PlacementNode& made = graph_.nodes[tasks_[forward ? from : to].node];
        const PlacementNode& other = graph_.nodes[tasks_[forward ? to : from].node];
        const std::uint32_t pieces = made.chunks == other.chunks ? made.chunks : 1;
        const double bytes = made.output_bytes / pieces;
        return graph_.latency + (graph_.bandwidth > 0 ? bytes / graph_.bandwidth : 0);
    }

    void take(const Event& event) {
        const std::uint32_t task = std::get<1>(event);
        if (std::get<2>(event) == kReady) {
            ready_[part_of(task)].emplace(to_end_[task], -static_cast<std::int64_t>(task));
            return;
        }
        const double now = std::get<0>(event);
        busy_[part_of(task)] = false;
        std::map<std::uint32_t, double> sent;  // arrival of this task's message, by part
        for (const std::uint32_t next : successors_[task]) {
            double there = now;
            if (crosses(task, next)) {
                const auto [at, fresh] = sent.try_emplace(part_of(next), 0.0);
                if (fresh) {
                    double& way =
                        ways_[{graph_.gpu_of(part_of(task)), graph_.gpu_of(part_of(next))}];
                    way = std::max(way, now) + message(task, next);
                    at->second = way;
                }
                there = at->second;
            }
            arrived_[next] = std::max(arrived_[next], there);
            if (--waiting_[next] == 0)
                events_.emplace(arrived_[next], next, kReady);
        }
    }

    void begin_next(std::uint32_t part, double now) {
        if (busy_[part] || ready_[part].empty())
            return;
        const auto task = static_cast<std::uint32_t>(-ready_[part].top().second);
        ready_[part].pop();
        busy_[part] = true;
        schedule_.start[task] = now;
        schedule_.order.push_back(task);
        events_.emplace(now + tasks_[task].seconds, task, kEnded);
    }

    /// Updates begin once all gradients are available; one kernel updates all parts of a GPU.
    [[nodiscard]] double updates() const {
        std::vector<double> seconds(graph_.gpus, 0);
        for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i)
            seconds[graph_.gpu_of(parts_[i])] += graph_.nodes[i].update;
        return *std::max_element(seconds.begin(), seconds.end());
    }

    const PlacementGraph& graph_;
    const std::vector<PlacementTask>& tasks_;
    const NodeParts& parts_;
    std::vector<std::vector<std::uint32_t>> successors_;
    std::vector<std::uint32_t> waiting_;
    std::vector<double> arrived_;
    std::vector<double> to_end_;
    std::vector<std::priority_queue<std::pair<double, std::int64_t>>> ready_;  ///< by part
    std::vector<bool> busy_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double>
        ways_;  ///< time from which the link is free
    TaskSchedule schedule_;
};

}  // namespace

TaskSchedule
schedule_tasks(const PlacementGraph& graph, const PlacementTasks& tasks, const NodeParts& parts) {
    return Scheduler(graph, tasks, parts).run();
}

}  // namespace switchfold

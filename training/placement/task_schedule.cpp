// SPDX-License-Identifier: Apache-2.0
#include "training/placement/task_schedule.h"

#include "core/error.h"
#include "core/list_schedule.h"

#include <algorithm>
#include <map>
#include <utility>

namespace switchfold {

namespace {

class Scheduler {
public:
    Scheduler(const PlacementGraph& graph, const PlacementTasks& tasks, const NodeParts& parts) :
        graph_(graph), tasks_(tasks.all()), parts_(parts), successors_(tasks_.size()) {
        for (std::uint32_t t = 0; t < tasks_.size(); ++t)
            for (const std::uint32_t need : tasks_[t].needs)
                successors_[need].push_back(t);
    }

    TaskSchedule run() {
        for (std::uint32_t part = 0; part < graph_.parts; ++part)
            list_.add_device();
        const std::vector<double> to_end = times_to_end();
        for (std::uint32_t t = 0; t < tasks_.size(); ++t)
            list_.add_task(part_of(t), tasks_[t].seconds, to_end[t]);
        for (std::uint32_t t = 0; t < tasks_.size(); ++t)
            add_needs_of_successors(t);
        SWITCHFOLD_CHECK(list_.run(), "tasks of a division wait for each other");
        TaskSchedule schedule;
        schedule.start.resize(tasks_.size());
        double end = 0;
        for (const std::uint32_t t : list_.order()) {
            if (t >= tasks_.size())  // a message
                continue;
            schedule.start[t] = list_.times()[t].begin;
            schedule.order.push_back(t);
            end = std::max(end, list_.times()[t].end);
        }
        schedule.seconds = end + updates();
        return schedule;
    }

private:
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

    /// Seconds from each task's begin to the end of the step, if nothing else held it up.
    [[nodiscard]] std::vector<double> times_to_end() const {
        std::vector<double> to_end(tasks_.size(), 0);
        for (std::size_t t = tasks_.size(); t-- > 0;) {
            double longest =
                tasks_[t].kind == TaskKind::kWeightGradient ? graph_.travel(tasks_[t].node) : 0;
            for (const std::uint32_t next : successors_[t])
                longest = std::max(
                    longest, to_end[next] + (crosses(static_cast<std::uint32_t>(t), next)
                                                 ? message(static_cast<std::uint32_t>(t), next)
                                                 : 0));
            to_end[t] = tasks_[t].seconds + longest;
        }
        // Gradients to be reduced are computed as early as possible, as in PyTorch.
        for (std::size_t t = 0; graph_.replicas > 1 && t < tasks_.size(); ++t)
            if (tasks_[t].kind == TaskKind::kWeightGradient)
                to_end[t] = to_end[tasks_[t].needs.front()];
        return to_end;
    }

    /// On another GPU they need a message, one for all of a part.
    void add_needs_of_successors(std::uint32_t task) {
        std::map<std::uint32_t, std::uint32_t> sent;  // message, by part
        for (const std::uint32_t next : successors_[task]) {
            if (!crosses(task, next)) {
                list_.add_need(next, task);
                continue;
            }
            const auto [at, fresh] = sent.try_emplace(part_of(next), 0);
            if (fresh) {
                at->second = list_.add_task(
                    way(graph_.gpu_of(part_of(task)), graph_.gpu_of(part_of(next))),
                    message(task, next));
                list_.add_need(at->second, task);
            }
            list_.add_need(next, at->second);
        }
    }

    std::uint32_t way(std::uint32_t from, std::uint32_t to) {
        const auto [at, fresh] = ways_.try_emplace({from, to}, 0);
        if (fresh)
            at->second = list_.add_device(ListSchedule::Takes::kFirstReady);
        return at->second;
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
    ListSchedule list_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ways_;  ///< links, as devices
};

}  // namespace

TaskSchedule
schedule_tasks(const PlacementGraph& graph, const PlacementTasks& tasks, const NodeParts& parts) {
    return Scheduler(graph, tasks, parts).run();
}

}  // namespace switchfold

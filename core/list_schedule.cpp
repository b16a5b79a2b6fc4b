// SPDX-License-Identifier: Apache-2.0
#include "core/list_schedule.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace switchfold {

namespace {

enum class What : std::uint8_t { kEnds, kReady };
/// Time, task, what: at equal times in order of tasks, so that equal input gives equal order.
using Event = std::tuple<double, std::uint32_t, What>;
/// The largest is taken first: urgency or earliness, and the task's number, negative.
using Ready = std::priority_queue<std::pair<double, std::int64_t>>;

}  // namespace

std::uint32_t ListSchedule::add_device(Takes takes) {
    devices_.push_back({takes, std::nullopt});
    return static_cast<std::uint32_t>(devices_.size() - 1);
}

std::uint32_t ListSchedule::add_task(std::uint32_t device, double seconds, double urgency) {
    const auto task = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back({device, seconds, urgency});
    Device& of = devices_[device];
    if (of.takes == Takes::kNextAdded && of.last)
        add_need(task, *of.last);
    of.last = task;
    return task;
}

void ListSchedule::add_need(std::uint32_t task, std::uint32_t needed, double later) {
    needs_.push_back({task, needed, later});
}

bool ListSchedule::run() {
    const std::size_t count = tasks_.size();
    std::vector<std::uint32_t> waits(count, 0);
    std::vector<std::size_t> first(count + 1, 0);  // of a task's successors
    for (const Need& need : needs_) {
        ++waits[need.task];
        ++first[need.needed + 1];
    }
    for (std::size_t task = 0; task < count; ++task)
        first[task + 1] += first[task];
    std::vector<const Need*> successors(needs_.size());
    std::vector<std::size_t> place(first.begin(), first.end() - 1);
    for (const Need& need : needs_)
        successors[place[need.needed]++] = &need;

    times_.assign(count, {});
    order_.clear();
    std::vector<double> arrived(count, 0);
    std::vector<Ready> ready(devices_.size());
    std::vector<bool> busy(devices_.size(), false);
    std::vector<std::uint32_t> touched;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    for (std::uint32_t task = 0; task < count; ++task)
        if (waits[task] == 0)
            events.emplace(0, task, What::kReady);
    const auto begin_next = [&](std::uint32_t device, double now) {
        if (busy[device] || ready[device].empty())
            return;
        const auto task = static_cast<std::uint32_t>(-ready[device].top().second);
        ready[device].pop();
        busy[device] = true;
        times_[task] = {now, now + tasks_[task].seconds};
        order_.push_back(task);
        events.emplace(times_[task].end, task, What::kEnds);
    };
    const auto end = [&](std::uint32_t task, double now) {
        busy[tasks_[task].device] = false;
        for (std::size_t i = first[task]; i < first[task + 1]; ++i) {
            const Need& need = *successors[i];
            arrived[need.task] = std::max(arrived[need.task], now + need.later);
            if (--waits[need.task] == 0)
                events.emplace(arrived[need.task], need.task, What::kReady);
        }
    };
    while (!events.empty()) {
        const double now = std::get<0>(events.top());
        while (!events.empty() && std::get<0>(events.top()) == now) {
            const auto [time, task, what] = events.top();
            events.pop();
            const std::uint32_t device = tasks_[task].device;
            const bool in_turn = devices_[device].takes == Takes::kFirstReady;
            touched.push_back(device);
            if (what == What::kEnds)
                end(task, now);
            else
                ready[device].emplace(
                    in_turn ? -time : tasks_[task].urgency, -static_cast<std::int64_t>(task));
            // Nothing to choose there: what takes no time has arrived before others choose.
            if (in_turn)
                begin_next(device, now);
        }
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        for (const std::uint32_t device : touched)
            begin_next(device, now);
        touched.clear();
    }
    return order_.size() == count;
}

}  // namespace switchfold

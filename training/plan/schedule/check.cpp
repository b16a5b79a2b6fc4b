// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/pass_needs.h"
#include "training/plan/schedule/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace switchfold {

namespace {

/// Occurrences of each pass of a micro-batch on a stage.
struct Count {
    std::uint8_t forward = 0;
    std::uint8_t backward = 0;
    std::uint8_t input_gradient = 0;
    std::uint8_t weight_gradient = 0;
    bool updated = false;
};

class ScheduleCheck {
public:
    explicit ScheduleCheck(const PipelineSchedule& schedule) :
        schedule_(schedule), counts_(std::size_t{schedule.micro_batches} * schedule.stages()) {}

    std::vector<std::string> run() {
        routes();
        if (problems_.empty())
            passes();
        if (problems_.empty())
            deadlock();
        return std::move(problems_);
    }

private:
    template <class... Args>
    void problem(fmt::format_string<Args...> format, Args&&... args) {
        constexpr std::size_t kMost = 20;
        if (problems_.size() < kMost)
            problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    void routes() {
        if (schedule_.stages() == 0 || schedule_.micro_batches == 0)
            problem("has no stage or no micro-batch");
        for (const std::vector<std::uint32_t>& route : schedule_.routes) {
            if (route.size() != schedule_.stages())
                problem("has routes of different length");
            for (const std::uint32_t device : route)
                if (device >= schedule_.devices())
                    problem("names device {}; there are {}", device, schedule_.devices());
        }
        if (!schedule_.route_of.empty() && schedule_.route_of.size() != schedule_.micro_batches)
            problem(
                "gives {} micro-batches a route; expected {}", schedule_.route_of.size(),
                schedule_.micro_batches);
        for (const std::uint32_t route : schedule_.route_of)
            if (route >= schedule_.routes.size())
                problem("names route {}; there are {}", route, schedule_.routes.size());
    }

    [[nodiscard]] Count& count(const Pass& pass) {
        return counts_[std::size_t{pass.micro_batch} * schedule_.stages() + pass.stage];
    }

    void passes() {
        for (std::uint32_t device = 0; device < schedule_.devices(); ++device) {
            for (const Slot& slot : schedule_.order[device]) {
                if (slot.beside && (slot.pass.kind != PassKind::kForward ||
                                    slot.beside->kind != PassKind::kBackward))
                    problem(
                        "device {} runs {} beside {}; expected a forward beside a backward (BW)",
                        device, to_string(slot.pass), to_string(*slot.beside));
                for_each_pass(slot, [&](const Pass& pass) { place(device, pass); });
            }
        }
        if (!problems_.empty())
            return;
        for (std::uint32_t j = 0; j < schedule_.micro_batches; ++j)
            for (std::uint32_t s = 0; s < schedule_.stages(); ++s)
                complete(j, s);
    }

    void place(std::uint32_t device, const Pass& pass) {
        if (pass.micro_batch >= schedule_.micro_batches || pass.stage >= schedule_.stages()) {
            problem(
                "device {} runs {}; there are {} micro-batches and {} stages", device,
                to_string(pass), schedule_.micro_batches, schedule_.stages());
            return;
        }
        if (pass.kind == PassKind::kUpdate) {
            update(device, pass.stage);
            return;
        }
        if (schedule_.device_of(pass) != device) {
            problem(
                "device {} runs {}; that stage of the micro-batch is on device {}", device,
                to_string(pass), schedule_.device_of(pass));
            return;
        }
        Count& counted = count(pass);
        std::uint8_t& times = pass.kind == PassKind::kForward         ? counted.forward
                              : pass.kind == PassKind::kBackward      ? counted.backward
                              : pass.kind == PassKind::kInputGradient ? counted.input_gradient
                                                                      : counted.weight_gradient;
        if (times == 1)
            problem("device {} runs {} twice", device, to_string(pass));
        times = 1;
        counted.updated = false;
    }

    /// Gradients of this device's micro-batches since the last update enter this one.
    void update(std::uint32_t device, std::uint32_t stage) {
        if (!schedule_.devices_with(stage).contains(device))
            problem("device {} updates stage {}, which is not on it", device, stage);
        for (std::uint32_t j = 0; j < schedule_.micro_batches; ++j) {
            if (schedule_.route(j)[stage] != device)
                continue;
            Count& counted = count({PassKind::kUpdate, j, stage});
            counted.updated =
                counted.updated || counted.backward == 1 || counted.weight_gradient == 1;
        }
    }

    void complete(std::uint32_t j, std::uint32_t s) {
        const Count& counted = count({PassKind::kForward, j, s});
        const auto missing = [&](PassKind kind) {
            problem("no device runs {}", to_string(Pass{kind, j, s}));
        };
        if (counted.forward == 0)
            missing(PassKind::kForward);
        if (counted.backward == 1 && (counted.input_gradient == 1 || counted.weight_gradient == 1))
            problem("{} runs whole and in parts", to_string(Pass{PassKind::kBackward, j, s}));
        if (counted.backward == 0 && counted.input_gradient == 0)
            missing(PassKind::kBackward);
        if (counted.input_gradient == 1 && counted.weight_gradient == 0)
            missing(PassKind::kWeightGradient);
        if (!counted.updated && !schedule_.asynchronous)
            problem("the gradients of micro-batch {} on stage {} go into no update", j, s);
    }

    void deadlock() {
        std::vector<std::size_t> next;
        const PassTable table(schedule_);
        if (walk(
                schedule_, [](const PassTable&, std::uint32_t, std::size_t) {}, &next))
            return;
        // Follow the waits until a device repeats: that is the cycle.
        std::uint32_t device = 0;
        while (next[device] == schedule_.order[device].size())
            ++device;
        std::vector<std::uint32_t> path;
        std::vector<std::string> words;
        while (std::find(path.begin(), path.end(), device) == path.end()) {
            path.push_back(device);
            std::uint32_t blocked_by = device;
            std::string words_here;
            for_each_pass(schedule_.order[device][next[device]], [&](const Pass& pass) {
                for_each_need(schedule_, pass, [&](const Pass& need) {
                    const PassTable::Place& place = table.at(need);
                    if (place.slot < next[place.device])
                        return;
                    blocked_by = place.device;
                    words_here = fmt::format(
                        "device {} waits with {} for {}", device, to_string(pass), to_string(need));
                });
            });
            words.push_back(words_here);
            device = blocked_by;
        }
        const auto circle = std::find(path.begin(), path.end(), device) - path.begin();
        words.erase(words.begin(), words.begin() + circle);
        problem("deadlocks: {}", fmt::join(words, "; "));
    }

    const PipelineSchedule& schedule_;
    std::vector<Count> counts_;
    std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> problems_of(const PipelineSchedule& schedule) {
    return ScheduleCheck(schedule).run();
}

bool ends_blocking(const PipelineSchedule& schedule) {
    const PassTable table(schedule);
    std::vector<std::size_t> ended(schedule.devices(), 0);  // slots that have completed
    const auto taken = [&](const Slot& slot) {
        bool all = true;
        for_each_pass(slot, [&](const Pass& pass) {
            if (const auto to = receiver_of(schedule, pass))
                all = all && ended[table.at(*to).device] >= table.at(*to).slot;
        });
        return all;
    };
    const auto ready = [&](const Slot& slot) {
        bool all = true;
        for_each_pass(slot, [&](const Pass& pass) {
            for_each_need(schedule, pass, [&](const Pass& need) {
                all = all && ended[table.at(need).device] > table.at(need).slot;
            });
        });
        return all;
    };
    bool moved = true;
    while (moved) {
        moved = false;
        for (std::uint32_t device = 0; device < schedule.devices(); ++device) {
            const std::vector<Slot>& order = schedule.order[device];
            std::size_t& next = ended[device];
            while (next < order.size() && ready(order[next]) &&
                   (next == 0 || taken(order[next - 1]))) {
                ++next;
                moved = true;
            }
        }
    }
    for (std::uint32_t device = 0; device < schedule.devices(); ++device)
        if (ended[device] < schedule.order[device].size())
            return false;
    return true;
}

}  // namespace switchfold

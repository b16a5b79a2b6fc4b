// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Begins and ends of tasks on devices, without a simulation: a device runs one task at a time, and
/// takes the next as soon as it is free and a task is ready. Pure logic.
class ListSchedule {
public:
    /// Which of several ready tasks a device takes.
    enum class Takes : std::uint8_t {
        kMostUrgent,  ///< among equally urgent ones the one that was added first
        kFirstReady,  ///< likewise
        kNextAdded,   ///< all in the order in which they were added
    };
    /// \returns the device's number.
    std::uint32_t add_device(Takes takes = Takes::kMostUrgent);
    /// \returns the task's number. `urgency`: any unit, larger first.
    std::uint32_t add_task(std::uint32_t device, double seconds, double urgency = 0);
    /// `task` is not ready before `needed` has ended, and `later` seconds more.
    void add_need(std::uint32_t task, std::uint32_t needed, double later = 0);

    /// Runs all tasks from time 0 on. \returns whether they ended; else some wait for each other.
    bool run();

    struct Times {
        double begin = 0;
        double end = 0;
    };
    /// Seconds, by task, of those that ended.
    [[nodiscard]] const std::vector<Times>& times() const { return times_; }
    /// Tasks in the order in which they began.
    [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

private:
    struct Task {
        std::uint32_t device;
        double seconds;
        double urgency;
    };
    struct Need {
        std::uint32_t task;
        std::uint32_t needed;
        double later;
    };
    struct Device {
        Takes takes;
        std::optional<std::uint32_t> last;  ///< task that was added
    };
    std::vector<Device> devices_;
    std::vector<Task> tasks_;
    std::vector<Need> needs_;
    std::vector<Times> times_;
    std::vector<std::uint32_t> order_;
};

}  // namespace switchfold

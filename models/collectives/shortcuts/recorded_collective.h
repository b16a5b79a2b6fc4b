// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace switchfold {

/// How an undisturbed collective passed. Pure data, without a clock.
struct RecordedCollective {
    /// One thing that a member was told.
    struct Told {
        Time at;          ///< since the last member had joined
        double work = 0;  ///< done by then, until the first member is done
        std::uint32_t position = 0;
        std::uint32_t left = 0;  ///< rounds that remain of `all`; 0: it moves no more data
        std::uint32_t all = 0;
    };
    /// How its members came to it.
    struct Joining {
        bool late = false;         ///< the last one, while the others had begun
        Time spread;               ///< from the first member's joining to the last one's
        Time alone;                ///< from the last but one's
        bool held = false;         ///< nobody begins before the last has come
        bool all_wait = false;     ///< each member needs data of all, and ends after the last came
        std::vector<Time> lags{};  ///< by position: how long before the last one
    };
    Joining joining;
    std::vector<Told> told;       ///< by time
    std::vector<double> traffic;  ///< counts of the machine's components
    /// What kernels left to packets of the memory's bandwidth from a time on: the least of the
    /// members', a share.
    struct Leg {
        Time from;  ///< since the last member had joined
        double left = 1;
    };
    std::vector<Leg> legs{{}};     ///< by time
    Time begins;                   ///< to move data, since the last member had joined
    double before_work = 0;        ///< counted by then
    std::vector<double> accessed;  ///< bytes that each member's memory moved
    /// How much all members' memories moved from a time on: collectives through switches come in
    /// waves.
    struct Flow {
        Time from;        ///< since the last member had joined
        double rate = 0;  ///< bytes per second
        double work = 0;  ///< done by then
        double each = 0;  ///< bytes per work
    };
    std::vector<Flow> flows{};  ///< by time
    /// Share of what packets may have of the memory's bandwidth alone that it took, on the member
    /// that took most.
    double demand = 0;

    /// Until the first member moves no more data.
    [[nodiscard]] Time first_done() const;
    /// Work that is done by then.
    [[nodiscard]] double first_work() const;
    /// Whether kernels drew from a member's memory.
    [[nodiscard]] bool beside_kernels() const;
    /// Counts work: a picosecond does as much as pace(left) says.
    void count_work(const std::function<double(double left)>& pace);
    /// Differences in its members' joining that change little.
    [[nodiscard]] Time ignored() const;
    /// By how much members who join like that are further apart, or closer.
    [[nodiscard]] Time differs(const Joining& other) const;
    /// Whether members come together, as far apart.
    [[nodiscard]] bool joined_like(const Joining& other) const;
    /// Whether one passes alike whose members come like that: about as far apart, or all but one so
    /// early that they have moved what they can.
    [[nodiscard]] bool suits(const Joining& other) const;
};

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/uncertainty/step_parts.h"
#include "workloads/profile/intervals.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace switchfold {

/// An operation that communicates, on one rank; ps.
struct Communication {
    Interval resident;
    Interval waiting;         ///< part of it in which it waits for another rank
    std::uint64_t since = 0;  ///< its start without its own launch
    std::size_t kind = 0;
};

/// What slower collectives add to exposed communication. A gap that is exposed now would grow by
/// what all those before it lose that run back to back up to it: each begins when the one before
/// has ended, or beside it. So the busy period that ends in a gap is its chain; with collectives
/// slower by a factor c the gap grows by c - 1 times the chain, and never shrinks below nothing. A
/// chain begins anew after each gap, because what follows was late already. Time that is spent
/// waiting for late ranks does not grow. Chains that overlap in time share it.
///
/// Chains of one kind whose gaps are alike shares of them are added up, in steps of a 32nd.
class ExposedChains {
public:
    /// Kind of communication whose time is given, and has no error.
    static constexpr std::size_t kGiven = SIZE_MAX;

    /// Those of one rank. `busy`: merged time of its kernels and copies. `us`: us that a picosecond
    /// counts for.
    void add(std::vector<Communication> rank, std::span<const Interval> busy, double us);
    [[nodiscard]] std::vector<ExposedChain> take() const;

private:
    struct Sum {
        double exposed_us = 0;
        std::map<std::size_t, double> chain_us;
    };
    std::map<std::pair<std::size_t, unsigned>, Sum> sums_;
};

}  // namespace switchfold

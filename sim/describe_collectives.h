// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/pool/pool.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// An all-reduce over all GPUs of a system, as auto runs it: what a run of it says, or, where a run
/// would take long, a bound.
struct DescribedAllReduce {
    std::uint64_t bytes = 0;
    std::string algorithm;
    std::string protocol;
    std::uint32_t blocks = 0;
    bool simulated = false;
    double time_us = 0;      ///< of the run, if simulated
    double at_least_us = 0;  ///< of any all-reduce: all its data leave each GPU and each machine
    std::string failure;     ///< why the run could not go on; empty if it could
};

/// Simulates all-reduces of these sizes, ascending, each in a job of its own of at most
/// `most_events` events, whose number does not depend on the host. Those that must take more, by a
/// smaller one that did or by their blocks, are not begun. The caller must hold no simulation.
[[nodiscard]] std::vector<DescribedAllReduce> describe_all_reduces(
    const SystemParams& system, const std::vector<std::uint64_t>& sizes, std::uint64_t most_events,
    const RunJobs& run);

/// The table of describe, 1 KiB to 4 GiB; empty for a single GPU and for devices that are none.
[[nodiscard]] std::string all_reduce_table(const SystemParams& system, const RunJobs& run);

}  // namespace switchfold

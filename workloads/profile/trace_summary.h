// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/error.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// What a person wants to know of one rank's trace. Times are sums over all steps.
struct TraceSummary {
    struct Phase {
        std::string name;
        std::uint64_t kernels = 0;
        Time time;
    };
    struct Kernel {
        std::string name;
        std::uint64_t count = 0;
        Time time;
    };
    struct Collective {
        CollectiveKind kind = CollectiveKind::kAllReduce;
        Bytes bytes;  ///< 0: the trace does not say
        std::uint64_t count = 0;
        Time time;
        Time shortest;
    };
    std::vector<Phase> phases;            ///< those that there are
    std::vector<Kernel> kernels;          ///< by time, longest first
    std::vector<Collective> collectives;  ///< by kind, then size
    Time compute;                         ///< when some kernel ran
    Time communication;                   ///< when some collective ran
    Time overlapped;                      ///< both
    /// Of kernels that ran beside a collective and, elsewhere, without one.
    std::uint64_t slowed_kernels = 0;
    Time slowed_beside;  ///< how long these took beside collectives
    Time slowed_alone;   ///< how long they take alone
    /// 0.16: took 16 % longer beside collectives; 0 if there are none.
    [[nodiscard]] double slowdown() const;
};

[[nodiscard]] TraceSummary summarise(const TraceWorkload& workload, std::size_t rank);

/// Orders that cannot be, with the operations' names: one that began before what it waits for had
/// ended, or before the one before it on its stream. At most 20.
[[nodiscard]] std::vector<Problem> impossible_orders(const TraceWorkload& workload);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A summary of one rank's trace for the user. Times are sums over all steps.
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
        std::string kind;  ///< of collective; "send" or "receive" to or from one rank
        Bytes bytes;       ///< 0 if the trace does not state it
        std::uint64_t count = 0;
        Time time;
        Time shortest;
    };
    std::vector<Phase> phases;            ///< those that occur
    std::vector<Kernel> kernels;          ///< by time, longest first
    std::vector<Collective> collectives;  ///< by kind, then size
    Time compute;                         ///< while any kernel ran
    Time communication;                   ///< while any collective, send or receive ran
    Time overlapped;                      ///< while both ran
    /// Kernels that ran beside a collective and, in other occurrences, alone.
    std::uint64_t slowed_kernels = 0;
    Time slowed_beside;  ///< their total duration beside collectives
    Time slowed_alone;   ///< their total isolated duration
    /// 0.16: they took 16 % longer beside collectives; 0 if there are none.
    [[nodiscard]] double slowdown() const;
};

[[nodiscard]] TraceSummary summarise(const TraceWorkload& workload, std::size_t rank);

/// Inconsistent orders, with the operations' names: an operation that began before a dependency, or
/// its predecessor on the stream, had ended. At most 20.
[[nodiscard]] std::vector<Problem> impossible_orders(const TraceWorkload& workload);

}  // namespace switchfold

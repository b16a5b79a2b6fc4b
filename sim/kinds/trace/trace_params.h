// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "sim/config/system_params.h"
#include "sim/config/workload_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

class WorkloadKind;

/// Traces in any supported format, one file per rank, or one that represents all ranks.
struct TraceWorkloadParams {
    static constexpr std::string_view kType = "trace";
    std::vector<std::string> files;
    std::uint32_t ranks = 0;
    std::optional<Peers> peers;
    std::optional<PathOr<SystemParams>> traced_on;
    std::optional<TracedTimes> kernel_times;
    std::optional<bool> fold;
    static constexpr auto fields() {
        return list_of(
            field(
                "files", &TraceWorkloadParams::files,
                "Traces, relative to this file, one per rank: Kineto, Nsight Systems, Chakra, "
                "PyTorch's execution traces and flight recorder, rocprofv3, captures, NCCL "
                "Inspector, logs and JSON of nccl-tests and rccl-tests, switchfold's own.")
                .required(),
            field(
                "ranks", &TraceWorkloadParams::ranks,
                "Ranks of the run; 0: those of the trace. Required if the files are fewer than the "
                "ranks that they stand for: process groups of one rank's trace then repeat by "
                "their strides.",
                0U, 65'536U),
            field(
                "peers", &TraceWorkloadParams::peers,
                "If one trace stands for all ranks: as_traced, the others arrive at each "
                "collective as late as its residence in the trace shows; together, no rank is ever "
                "late. Default: as_traced if a real run's trace has residences. Traces of all "
                "ranks show each rank's own lateness."),
            field(
                "traced_on", &TraceWorkloadParams::traced_on,
                "The machine that the trace was recorded on, or the file that describes it. It "
                "tells what the trace leaves open: sizes of collectives from their durations, and "
                "how late peers came; and on which GPU its kernels took their times. Default: the "
                "experiment's system, if its file describes the traced GPU."),
            field(
                "kernel_times", &TraceWorkloadParams::kernel_times,
                "Durations of the trace's kernels alone on a GPU that differs from the traced one: "
                "rescaled, by the ratio of the modelled times on the two GPUs "
                "(docs/contention.md#a-kernel-alone); as_traced, the trace's. Default: rescaled if "
                "the traced "
                "GPU is known and another. On the traced GPU both are the trace's, exactly."),
            field(
                "fold", &TraceWorkloadParams::fold,
                "Simulate the traced ranks alone, as which all others do the same: hundreds of "
                "GPUs in seconds; docs/traces.md says what it leaves out. Default: true from 33 "
                "ranks on, unless fidelity is exact."));
    }
};

[[nodiscard]] const WorkloadKind& kind_of(const TraceWorkloadParams& params);

}  // namespace switchfold

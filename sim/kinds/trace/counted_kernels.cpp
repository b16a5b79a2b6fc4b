// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/counted_kernels.h"

#include "workloads/kernels/roofline.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

/// A rank's operations with times, and how many kernels got one.
struct Counted {
    std::shared_ptr<const RankGraph> before;  ///< its address is a key
    std::shared_ptr<const RankGraph> after;
    std::uint64_t kernels = 0;
};

Counted counted_on(const GpuParams& gpu, std::shared_ptr<const RankGraph> before) {
    auto after = std::make_shared<RankGraph>(*before);
    std::uint64_t kernels = 0;
    for (Operation& operation : after->operations)
        if (auto* const kernel = std::get_if<KernelOperation>(&operation.body);
            kernel != nullptr && kernel->duration_source == DurationSource::kCounts) {
            kernel->isolated = roofline_time(
                *kernel, static_cast<double>(gpu.matrix_rate.count()),
                static_cast<double>(gpu.memory.hbm.peak.count()));
            ++kernels;
        }
    return {std::move(before), std::move(after), kernels};
}

}  // namespace

void set_counted_kernels(const WorkloadContext& context, PreparedWorkload& out) {
    if (!out.report.duration_sources.contains(std::string(to_string(DurationSource::kCounts))))
        return;
    const RankGpus gpus(context.system());
    std::map<std::pair<const RankGraph*, std::uint32_t>, Counted> done;
    std::map<std::uint32_t, std::uint64_t> kernels;  ///< by kind of GPU
    for (std::uint32_t rank = 0; rank < out.graph.ranks.size(); ++rank) {
        std::shared_ptr<const RankGraph>& graph = out.graph.ranks[rank];
        const std::uint32_t kind = gpus.kind(rank);
        if (gpus.of(rank).matrix_rate == FlopRate())
            continue;
        Counted& counted = done[{graph.get(), kind}];
        if (!counted.after)
            counted = counted_on(gpus.of(rank), graph);
        graph = counted.after;
        kernels[kind] += counted.kernels;
    }
    for (const auto& [kind, number] : kernels) {
        const GpuParams& gpu = *gpus.kinds()[kind];
        if (number > 0)
            out.report.notes.push_back(fmt::format(
                "kernels without a duration ({}) take that of their operations or their bytes, "
                "whichever is longer, at {} and {} of {}",
                number, to_string(gpu.matrix_rate), to_string(gpu.memory.hbm.peak), gpu.name));
    }
}

}  // namespace switchfold

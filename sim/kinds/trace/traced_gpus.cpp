// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/traced_gpus.h"

#include "sim/config/rank_gpus.h"

#include <algorithm>

namespace switchfold {

TracedGpu TracedGpus::of(const StatedGpu& stated) {
    const RankGpus standing(traced_on_);
    for (const GpuParams* gpu : standing.kinds())
        if (describes(*gpu, stated))
            return {*gpu, true};
    if (!stated.name.empty()) {
        if (!shipped_)
            shipped_ = shipped_gpus(experiment_);
        if (const auto found = best_description(*shipped_, stated))
            return {*found, true};
        for (const GpuParams* gpu : standing.kinds())
            if (gpu_model(gpu->name) == gpu_model(stated.name)) {
                GpuParams part = *gpu;
                part.sms = stated.sms == 0 ? part.sms : stated.sms;
                return {part, true};
            }
    }
    return {*standing.kinds().front(), false};
}

StatedGpu stated_gpu(const TraceFileReport& file) {
    return {file.gpu_name, file.sms, file.memory_bytes};
}

StatedGpu stated_gpu(const std::vector<TraceFileReport>& files, std::uint32_t rank) {
    const auto own = std::find_if(
        files.begin(), files.end(), [&](const TraceFileReport& file) { return file.rank == rank; });
    return stated_gpu(own == files.end() ? files.front() : *own);
}

}  // namespace switchfold

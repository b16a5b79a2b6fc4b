// SPDX-License-Identifier: Apache-2.0
#include "models/coprocessor/offload_pipeline.h"

#include <algorithm>
#include <stdexcept>

namespace switchfold {

std::vector<OffloadTimes>
run_offload(const std::vector<OffloadChunk>& chunks, const OffloadOptions& options) {
    if (options.buffers == 0)
        throw std::invalid_argument("no buffer; expected at least one");
    std::vector<OffloadTimes> times;
    times.reserve(chunks.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        const OffloadTimes before = i > 0 ? times[i - 1] : OffloadTimes();
        OffloadTimes t;
        t.in_begin = before.in_end;
        if (!options.hidden)
            t.in_begin = before.out_end;
        else if (i >= options.buffers)
            t.in_begin = std::max(t.in_begin, times[i - options.buffers].out_end);
        t.in_end = t.in_begin + chunks[i].in;
        t.compute_begin = std::max(t.in_end, before.compute_end);
        t.compute_end = t.compute_begin + chunks[i].compute;
        t.out_begin = std::max(t.compute_end, before.out_end);
        t.out_end = t.out_begin + chunks[i].out;
        times.push_back(t);
    }
    return times;
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/events/counted_bytes.h"

namespace switchfold::capture {

CountedBytes::CountedBytes(const CaptureFile& counters) {
    for (const Counters& record : counters.counters) {
        const std::string kernel(counters.name(record.name));
        Counted& counted = counted_[{kernel, record.grid, record.block}];
        const Bytes bytes{record.dram_read, record.dram_written};
        if (!counted.by_ordinal.emplace(record.ordinal, bytes).second)
            continue;
        counted.sum.read += bytes.read;
        counted.sum.written += bytes.written;
    }
}

std::optional<CountedBytes::Bytes>
CountedBytes::next(const std::string& kernel, const Kernel& shape) {
    const auto found = counted_.find({kernel, shape.grid, shape.block});
    if (found == counted_.end())
        return std::nullopt;
    Counted& counted = found->second;
    const auto exact = counted.by_ordinal.find(counted.asked++);
    if (exact != counted.by_ordinal.end())
        return exact->second;
    const std::uint64_t count = counted.by_ordinal.size();
    return Bytes{counted.sum.read / count, counted.sum.written / count};
}

}  // namespace switchfold::capture

// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_parameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

std::string ReductionUnitParams::why_not(const OperandFormat& format) const {
    const Quantisation& narrow = format.quantised;
    if (!narrow.used())
        return {};
    if (std::find(formats.begin(), formats.end(), narrow.format) == formats.end())
        return fmt::format("adds no {}", enum_name(narrow.format));
    const bool at_port = narrow.at == QuantisedAt::kPort;
    const std::uint64_t block = narrow.block_bytes(at_port ? width_of(format.type) : 1);
    if (line.count() % block != 0)
        return fmt::format(
            "has lines of {} B, which are no whole blocks of {} elements, {} B there", line.count(),
            narrow.block, block);
    return {};
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/in_switch_base.h"

namespace switchfold {

std::uint32_t
InSwitchCollective::sent_values(std::uint32_t position, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint32_t handle = own_values(position, offset, bytes);
    if (format_.quantised.at != QuantisedAt::kGpu)
        return handle;
    std::vector<float> numbers = fabric_.values().get(handle);
    fabric_.values().drop(handle);
    quantise(format_.quantised, numbers);
    return fabric_.values().put(std::move(numbers));
}

}  // namespace switchfold

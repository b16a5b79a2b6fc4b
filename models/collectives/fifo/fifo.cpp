// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/fifo/fifo.h"

#include <utility>

namespace switchfold {

void Fifo::grow() {
    const std::uint32_t wider = 2 * mask + 1;
    auto more = std::make_unique<Slice[]>(wider + 1U);
    for (std::uint32_t number = oldest; number != posted; ++number)
        more[number & wider] = slices[number & mask];
    more_slices = std::move(more);
    slices = more_slices.get();
    mask = wider;
}

}  // namespace switchfold

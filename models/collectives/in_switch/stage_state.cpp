// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/stage_state.h"

#include <algorithm>

namespace switchfold {

void StageBlock::note_answer(std::uint64_t offset, std::uint64_t unit, std::uint64_t all) {
    early.push_back(offset);
    for (auto next = std::find(early.begin(), early.end(), complete); next != early.end();
         next = std::find(early.begin(), early.end(), complete)) {
        complete = std::min(all, complete + unit);
        early.erase(next);
    }
}

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/warp_rounds.h"

#include <algorithm>
#include <utility>

namespace switchfold {

std::vector<Packet> WarpRounds::note(
    std::size_t block, std::uint64_t round, std::uint64_t bytes, const Packet& answer) {
    std::vector<Round>& open = blocks_[block];
    auto at = std::find_if(
        open.begin(), open.end(), [&](const Round& known) { return known.number == round; });
    if (at == open.end())
        at = open.insert(open.end(), Round{round, bytes, {}});
    at->missing -= answer.payload;
    at->answers.push_back(answer);
    if (at->missing > 0)
        return {};
    std::vector<Packet> answers = std::move(at->answers);
    open.erase(at);
    return answers;
}

std::vector<Packet> WarpRounds::abandon() {
    std::vector<Packet> left;
    for (std::vector<Round>& open : blocks_) {
        for (const Round& round : open)
            left.insert(left.end(), round.answers.begin(), round.answers.end());
        open.clear();
    }
    return left;
}

}  // namespace switchfold

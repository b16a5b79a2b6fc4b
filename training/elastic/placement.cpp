// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/placement.h"

#include <algorithm>
#include <map>
#include <set>

namespace switchfold::elastic {

std::uint32_t Placement::machines() const {
    return static_cast<std::uint32_t>(
        std::set<std::uint32_t>(machine_of.begin(), machine_of.end()).size());
}

std::uint32_t Placement::gpus_of_machine() const {
    std::map<std::uint32_t, std::uint32_t> gpus;
    std::uint32_t most = 0;
    for (const std::uint32_t machine : machine_of)
        most = std::max(most, ++gpus[machine]);
    return most;
}

Placement even_placement(std::uint32_t members, std::uint32_t machines, std::uint32_t channels) {
    Placement placement;
    placement.channels = channels;
    const std::uint32_t each = (members + machines - 1) / machines;
    for (std::uint32_t i = 0; i < members; ++i)
        placement.machine_of.push_back(i / each);
    for (std::uint32_t first = 0; first < each; ++first) {
        std::vector<std::uint32_t>& ring = placement.rings.emplace_back();
        for (std::uint32_t begin = 0; begin < members; begin += each) {
            const std::uint32_t here = std::min(each, members - begin);
            for (std::uint32_t i = 0; i < here; ++i)
                ring.push_back(begin + (first + i) % here);
        }
    }
    return placement;
}

}  // namespace switchfold::elastic

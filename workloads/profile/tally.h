// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

/// A fast counter for few distinct names. It stores pointers, so names must outlive it.
class Tally {
public:
    void add(const char* what) {
        // Compares addresses; equal literals at different addresses are merged when the counts are
        // read.
        const auto found = std::find_if(counts_.begin(), counts_.end(), [what](const auto& count) {
            return count.first == what;
        });
        if (found != counts_.end())
            ++found->second;
        else
            counts_.emplace_back(what, 1);
    }
    /// Adds all counts to `counts` and resets.
    void move_to(std::map<std::string, std::uint64_t>& counts) {
        for (const auto& [what, count] : counts_)
            counts[what] += count;
        counts_.clear();
    }

private:
    std::vector<std::pair<const char*, std::uint64_t>> counts_;
};

}  // namespace switchfold

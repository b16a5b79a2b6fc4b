// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/cupti/launches.h"

#include <utility>

namespace switchfold::capture {

void Launches::add(
    std::string_view kernel, const std::array<std::uint32_t, 3>& grid,
    const std::array<std::uint32_t, 3>& block) {
    const std::uint32_t ordinal = seen_[{std::string(kernel), grid, block}]++;
    counting_.push_back({std::string(kernel), grid, block, ordinal});
}

void Launches::skip(
    std::string_view kernel, const std::array<std::uint32_t, 3>& grid,
    const std::array<std::uint32_t, 3>& block) {
    ++seen_[{std::string(kernel), grid, block}];
}

std::vector<CountedLaunch> Launches::take() {
    return std::exchange(counting_, {});
}

bool waits_for_peers(std::string_view kernel) {
    return kernel.find("nccl") != std::string_view::npos ||
           kernel.find("nvshmem") != std::string_view::npos;
}

}  // namespace switchfold::capture

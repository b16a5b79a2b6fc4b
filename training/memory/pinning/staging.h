// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/access_schedule.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Memory reserved for unpinned items.
enum class Staging : std::uint8_t {
    kSingle,      ///< the fullest step: no prefetching, every copy stalls
    kDoublePeak,  ///< twice the fullest step (GeePS)
    kWindow,      ///< the fullest two consecutive steps, with common items counted once: double
                  ///< buffering
};
inline constexpr std::array<std::pair<Staging, std::string_view>, 3> kStagingNames{
    {{Staging::kSingle, "single"},
     {Staging::kDoublePeak, "double_peak"},
     {Staging::kWindow, "window"}}};
[[nodiscard]] std::string_view name_of(Staging staging);

/// Items that must be in memory at the same time.
struct PinWindow {
    std::uint64_t fixed = 0;                ///< bytes that cannot be pinned
    std::vector<std::uint32_t> candidates;  ///< ascending indices into PinProblem
};

/// Selects the candidates to pin: maximises saved copies, such that the pinned bytes plus `factor`
/// times the fullest window's unpinned bytes fit.
struct PinProblem {
    std::vector<std::uint32_t> items;   ///< index in the schedule, by candidate
    std::vector<std::uint64_t> bytes;   ///< by candidate
    std::vector<std::uint32_t> copies;  ///< by candidate: copies of its bytes that pinning saves
    std::vector<PinWindow> windows;     ///< one per step
    std::uint32_t factor = 1;           ///< 2 for double_peak
    [[nodiscard]] std::size_t size() const { return bytes.size(); }
    [[nodiscard]] std::uint64_t total() const;
};

[[nodiscard]] PinProblem pin_problem(const AccessSchedule& schedule, Staging staging);

/// Unpinned bytes of a window.
[[nodiscard]] std::uint64_t
unpinned(const PinProblem& problem, const PinWindow& window, const std::vector<bool>& pinned);
/// Unpinned bytes of the largest window, times the factor.
[[nodiscard]] std::uint64_t
staging_bytes(const PinProblem& problem, const std::vector<bool>& pinned);
[[nodiscard]] std::uint64_t
pinned_bytes(const PinProblem& problem, const std::vector<bool>& pinned);
/// Bytes of copies that pinning saves per iteration.
[[nodiscard]] std::uint64_t saved_bytes(const PinProblem& problem, const std::vector<bool>& pinned);

}  // namespace switchfold

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// Memory reserved for offloaded items.
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
struct OffloadWindow {
    std::uint64_t fixed = 0;                ///< bytes that cannot be retained
    std::vector<std::uint32_t> candidates;  ///< ascending indices into OffloadProblem
};

/// Selects the candidates to retain: maximises saved copies, such that the retained bytes plus
/// `factor` times the fullest window's offloaded bytes fit.
struct OffloadProblem {
    std::vector<std::uint32_t> items;    ///< index in the schedule, by candidate
    std::vector<std::uint64_t> bytes;    ///< by candidate
    std::vector<std::uint32_t> copies;   ///< by candidate: copies of its bytes that retaining saves
    std::vector<OffloadWindow> windows;  ///< one per step
    std::uint32_t factor = 1;            ///< 2 for double_peak
    [[nodiscard]] std::size_t size() const { return bytes.size(); }
    [[nodiscard]] std::uint64_t total() const;
};

[[nodiscard]] OffloadProblem offload_problem(const TensorUses& schedule, Staging staging);

/// Offloaded bytes of a window.
[[nodiscard]] std::uint64_t offloaded(
    const OffloadProblem& problem, const OffloadWindow& window, const std::vector<bool>& retained);
/// Offloaded bytes of the largest window, times the factor.
[[nodiscard]] std::uint64_t
staging_bytes(const OffloadProblem& problem, const std::vector<bool>& retained);
[[nodiscard]] std::uint64_t
retained_bytes(const OffloadProblem& problem, const std::vector<bool>& retained);
/// Bytes of copies that retaining saves per iteration.
[[nodiscard]] std::uint64_t
saved_bytes(const OffloadProblem& problem, const std::vector<bool>& retained);

}  // namespace switchfold

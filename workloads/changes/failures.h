// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/changes/change.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace switchfold::changes {

/// A GPU that fails, whether it trains then or not.
struct Failure {
    Time at;
    std::uint32_t gpu = 0;
    bool operator==(const Failure&) const = default;
};

/// Failures of each GPU at an even rate, those of a GPU drawn from a stream of its own: the same
/// whatever the others do. In order of time.
[[nodiscard]] std::vector<Failure>
draw_failures(std::uint32_t gpus, double per_gpu_day, Time length, std::uint64_t seed);

/// Reads a CSV with the columns `seconds` and `gpu`. Throws ConfigError with everything that is
/// wrong, IoError.
[[nodiscard]] std::vector<Failure> read_failures(const std::filesystem::path& path);

/// What a run does about failures.
struct FailurePolicy {
    Method method = Method::kFailure;  ///< or restart
    Method rejoin = Method::kJoin;     ///< of a spare, or of a repaired GPU; or restart, reconnect
    Time repair;
    std::uint32_t spares = 0;  ///< GPUs behind the first members
};

/// Adds what failures make of a run to its changes, which have times, in order of time. A member
/// that fails is removed; a spare takes its place, else it does so itself once it is repaired. A
/// restart takes the spare at once. What is repaired while a spare trains is a spare. A failure of
/// a GPU that neither trains nor is a spare, and one that would leave nobody, is passed over.
[[nodiscard]] std::vector<Change> with_failures(
    const Members& first,
    const std::vector<Change>& changes,
    const std::vector<Failure>& failures,
    const FailurePolicy& policy,
    std::uint32_t gpus,
    Time length);

}  // namespace switchfold::changes
